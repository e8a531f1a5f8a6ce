# Stands in for programs that a picture shows and nobody runs.
echo '{"code": "nobody", "message": "nothing answers here"}'
exit 1
