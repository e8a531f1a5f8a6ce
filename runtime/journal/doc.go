// Package journal keeps what happens to a run on disk, so that a run that was killed can be resumed: an
// append-only file of JSON lines, each with a hash of itself and of all before it, and an anchor beside it.
// The package knows nothing of what the lines are about.
//
// # The file
//
// A run has one file, <id>.jsonl, of mode 0600. Each line is one record. The
// first is the header, and only it says which version of the format follows:
//
//	{"obelus-journal":1,"n":0,"synced":0,"time":"2026-11-21T09:30:12.000Z","body":{…},"hash":"6b0c…"}
//	{"n":1,"synced":1,"time":"2026-11-21T09:30:12.004Z","body":{…},"hash":"91d2…"}
//	{"n":2,"synced":1,"time":"2026-11-21T09:30:12.004Z","body":{…},"hash":"07fa…"}
//	{"n":3,"synced":3,"time":"2026-11-21T09:30:13.250Z","body":{…},"hash":"e4a8…"}
//
// The fields, in this order and with no blanks between them:
//
//   - n counts the records from 0; record n is in line n+1.
//   - synced is how many records were safely on disk when this one was written:
//     records with the same number went to disk together, with one write.
//   - time is when the first record of that write came, in UTC.
//   - body is what the writer of the journal has to say: a JSON object.
//   - hash is SHA-256, in hex, of the hash of the line before (64 characters;
//     none for the header) followed by this line up to the comma before "hash".
//     There is no field for the hash before, as it is one line above.
//
// # Reading it by hand
//
//	jq -r '[.n, .time, .body.event.kind] | @tsv' run.jsonl
//
// The chain, without obelus:
//
//	prev=; while IFS= read -r line; do
//	  hash=$(printf %s "$prev${line%,\"hash\":*}" | sha256sum | cut -c 1-64)
//	  [ "$line" = "${line%,\"hash\":*},\"hash\":\"$hash\"}" ] || echo "changed: $line"
//	  prev=$hash
//	done < run.jsonl
//
// # The anchor
//
// The chain shows that a record was changed, left out, repeated or moved. That whole records were cut off the end is
// shown by the anchor, <id>.anchor, one line that says how many records are on disk, and the hash of the last:
//
//	{"records":4,"hash":"e4a8…"}
//
// It is written over after every [Writer.Sync], when the records that it counts are safe, so it never claims a record
// that is missing. Nothing waits for the disk to have it: an older anchor claims less. A journal without an anchor is
// verified by its chain alone. There is no key in either file: who has to rule out that somebody writes both anew keeps
// the last hash elsewhere.
//
// # What a crash leaves, and what it doesn't
//
// What [Writer.Sync] has reported as done is on disk, and a writer writes only when all before is. So a crash touches
// the last write alone: its last line may be incomplete, and blocks of it that are missing read as zeros. Such a line
// is cut off with all that follows, unless the anchor or the "synced" of a later line says that the record was on
// disk: nothing was done because of it. Everything else is refused, as nobody can tell what else was changed.
//
// Records can be read before they are on disk, when a process was killed between write and fsync, or its fsync
// failed. So [Open] writes the records of the last write once more and waits for the disk.
package journal
