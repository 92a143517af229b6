# Pauses the silence clock for $1 s, as a running tool does, resumes it, and falls silent.
echo "pid $$
pause"
sleep "$1"
echo resume
exec sleep 600
