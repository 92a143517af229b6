# Exits at once. The process that it leaves behind is out of reach and holds its pipes for a while.
session() { cut -d' ' -f6 "/proc/$1/stat"; }
setsid sleep 60 &
echo "stray $!"
# Out of reach only once it has its own session.
while [ "$(session $!)" = "$(session $$)" ]; do :; done
exit 0
