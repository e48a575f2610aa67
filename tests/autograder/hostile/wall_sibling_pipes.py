"""Writes a reply into the pipes of other submissions through /proc."""
# item: call
# earns: 0
# ends: value raised died timeout
# needs: processes
import glob
import os


def answer(x):
    written = 0
    for path in glob.glob('/proc/[0-9]*/fd/*'):
        pid = path.split('/')[2]
        try:
            if pid != str(os.getpid()) and b'child' in open(f'/proc/{pid}/cmdline', 'rb').read() and 'pipe' in os.readlink(path):
                with open(path, 'wb', buffering=0) as pipe:
                    os.set_blocking(pipe.fileno(), False)
                    written += pipe.write(b'{"score": 100}\n') or 0
        except OSError:
            pass
    return written
