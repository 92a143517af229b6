# Exits at once. The process that it leaves behind is out of reach and continues to write a little.
session() { cut -d' ' -f6 "/proc/$1/stat"; }
setsid sh -c 'while :; do echo noise; sleep 0.005; done' &
echo "stray $!"
# Out of reach only once it has its own session.
while [ "$(session $!)" = "$(session $$)" ]; do :; done
exit 0
