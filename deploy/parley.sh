#!/bin/sh
# The program of the image: `parley`, with or without `--workers`, starts the server, and `parley <command>` is the command line.
# Tools run in the Python environment of the image; a link to the one of an older image leads to this one.
case "${1:-}" in
'' | --workers*) starts=yes ;;
*) starts= ;;
esac
if [ "$starts" ] && [ -w "$DATA_DIR" ] && [ ! -e "$DATA_DIR/python" ]; then
  ln -sfn /opt/parley/python "$DATA_DIR/python"
fi
exec node /app/lib/start/parley.js "$@"
