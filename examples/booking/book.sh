# book.sh
case $1 in Oslo) echo "no flights to $1" >&2; exit 1 ;; esac
echo "$1" >> bookings.txt
echo "booked a trip to $1"
