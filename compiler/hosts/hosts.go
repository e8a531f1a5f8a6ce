// Package hosts says where requests may go: which hosts a list allows, and which
// addresses are nobody's business but this machine's and its network's. It looks nothing
// up: the client that connects asks it about the name, and again about the address that the name
// led to.
package hosts

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// An Entry is an item of a list: a host, its subdomains (*.example.com), an address or a
// range of addresses (10.0.0.0/8), each with one port or any.
type Entry struct {
	text  string
	name  string // lower case, without the dot at its end; "" of addresses
	below bool   // its subdomains are meant
	addrs netip.Prefix
	port  string // "" is any
}

// Parse reads an item of a list.
func Parse(text string) (e Entry, err error) {
	e.text = text
	host := text
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.Contains(text[:i], ":") ||
		strings.HasPrefix(text, "[") && i > strings.LastIndexByte(text, ']') {
		host, e.port = text[:i], text[i+1:]
		if n, err := strconv.ParseUint(e.port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != e.port {
			return e, fmt.Errorf("%q is no port", e.port)
		}
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if e.addrs, err = netip.ParsePrefix(bare); err == nil {
		if e.addrs != e.addrs.Masked() {
			return e, fmt.Errorf("%q has bits beyond its mask: write %s", bare, e.addrs.Masked())
		}
		return e, nil
	}
	if addr, err := netip.ParseAddr(bare); err == nil {
		addr = addr.Unmap()
		e.addrs = netip.PrefixFrom(addr, addr.BitLen())
		return e, nil
	}
	e.name = Name(host)
	if e.below = strings.HasPrefix(e.name, "*."); e.below {
		e.name = e.name[2:]
	}
	if !IsName(e.name) {
		return e, fmt.Errorf("%q is no host", host)
	}
	return e, nil
}

// Name is a host's name as names are compared.
func Name(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// IsName reports whether a text can be the name of a host, in ASCII.
func IsName(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return len(text) <= 253
}

// String is the entry as it was written.
func (e Entry) String() string { return e.text }

// MarshalText gives the entry as it was written.
func (e Entry) MarshalText() ([]byte, error) { return []byte(e.text), nil }

// UnmarshalText reads an entry.
func (e *Entry) UnmarshalText(text []byte) (err error) {
	*e, err = Parse(string(text))
	return err
}

// names reports whether the entry names a host.
func (e Entry) names(host, port string) bool {
	if e.name == "" || e.port != "" && e.port != port {
		return false
	}
	return e.name == host && !e.below || e.below && strings.HasSuffix(host, "."+e.name)
}

// holds reports whether the entry holds an address.
func (e Entry) holds(addr netip.Addr, port string) bool {
	return e.addrs.IsValid() && addr.IsValid() && (e.port == "" || e.port == port) &&
		e.addrs.Contains(addr.Unmap().WithZone(""))
}

// A List is what one place says of where requests may go.
type List struct {
	By      string  `json:"by"` // who says so, in words
	Entries []Entry `json:"entries"`
	// Adds says that it only allows more than what the obelus.yaml does; any other list
	// allows what it names and nothing else.
	Adds bool `json:"adds,omitempty"`
	// Counts says that it may allow addresses that aren't public: its word is trusted.
	Counts bool `json:"counts,omitempty"`
	// Final says that no list that adds adds to it, as a policy's.
	Final bool `json:"final,omitempty"`
}

// Rules are all the lists that a run stands under. Without any, it may go to every public
// address.
type Rules []List

// A Refusal is why a request isn't sent.
type Refusal struct{ Why, Help string }

func (r *Refusal) Error() string { return r.Why }

// Refuse is why nothing is sent to a host, judged by its name; nil when nothing is against it, or that isn't known
// without the address that it leads to. A proxy finds that itself: then the name has to do.
func (r Rules) Refuse(host, port string, byProxy bool) *Refusal {
	addr := literal(host)
	return r.refuse(host, port, addr, !byProxy && !addr.IsValid())
}

// RefuseAddress is why nothing is sent to an address that a host leads to.
func (r Rules) RefuseAddress(host, port string, addr netip.Addr) *Refusal {
	return r.refuse(host, port, addr.Unmap(), false)
}

// literal is the address that represents a host or that everybody knows it to be.
func literal(host string) netip.Addr {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.Unmap()
	}
	if addr := numeric(Name(host)); addr.IsValid() {
		return addr
	}
	if isLocal(Name(host)) {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.Addr{}
}

// numeric is the IPv4 address that resolvers and proxies take numbers for, as inet_aton has it: up
// to four, decimal, octal or hexadecimal; the last fills the rest of the address.
func numeric(host string) netip.Addr {
	parts, all := strings.Split(host, "."), uint64(0)
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil || bits <= 0 || n>>bits != 0 {
			return netip.Addr{}
		}
		all = all<<bits | n
	}
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, uint32(all))))
}

func isLocal(name string) bool { return name == "localhost" || strings.HasSuffix(name, ".localhost") }

// refuse judges a host, whose address may not be known yet.
func (r Rules) refuse(host, port string, addr netip.Addr, unknown bool) *Refusal {
	name := Name(host)
	listed := func(l *List) bool {
		return slices.ContainsFunc(l.Entries, func(e Entry) bool {
			return e.names(name, port) || e.holds(addr, port) || unknown && e.addrs.IsValid()
		})
	}
	added := slices.ContainsFunc(r, func(l List) bool { return l.Adds && listed(&l) })
	for i := range r {
		if l := &r[i]; !l.Adds && !listed(l) && (l.Final || !added) {
			return &Refusal{fmt.Sprintf("%s doesn't list the host %q", l.By, host),
				"list it there under \"hosts\", if requests may go to it"}
		}
	}
	kind := ""
	if addr.IsValid() {
		kind = Kind(addr)
	}
	if kind == "" {
		return nil
	}
	vouched := slices.ContainsFunc(r, func(l List) bool {
		return l.Counts && slices.ContainsFunc(l.Entries, func(e Entry) bool {
			return e.holds(addr, port) || e.names(name, port) && isLocal(name) && addr.IsLoopback()
		})
	})
	if vouched {
		return nil
	}
	what := fmt.Sprintf("requests to the host %q are blocked: it is %s", host, kind)
	if literal(host) != addr {
		what = fmt.Sprintf("requests to the host %q are blocked: it leads to %s, %s", host, addr, kind)
	}
	entry := addr.String()
	if port != "" {
		entry = net.JoinHostPort(entry, port)
	}
	return &Refusal{what, fmt.Sprintf(
		"allow it with --allow-host %s, or add hosts: [%q] to obelus.yaml and run \"obelus trust\"", entry, entry)}
}

// special are the ranges of addresses that aren't public, besides those that netip knows
// by itself (the IANA registries of special-purpose addresses; 168.63.129.16 has a cloud's own services).
var special = prefixes("0.0.0.0/8", "100.64.0.0/10", "168.63.129.16/32", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "2001::/23",
	"2001:db8::/32", "3fff::/20")

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// public is where public IPv6 addresses are; the others are reserved.
var public = netip.MustParsePrefix("2000::/3")

// embedding are the ranges of IPv6 addresses with an IPv4 address in them, which is where
// they lead, and the byte at which it begins.
var embedding = []struct {
	netip.Prefix
	at int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
}

// Kind says what an address is that isn't public, with its article; "" of one that is.
func Kind(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	for _, e := range embedding {
		if e.Contains(addr) {
			bytes := addr.As16()
			return Kind(netip.AddrFrom4([4]byte(bytes[e.at : e.at+4])))
		}
	}
	isSpecial := func(p netip.Prefix) bool { return p.Contains(addr) }
	switch {
	case addr.IsLoopback():
		return "an address of this machine"
	case addr.IsPrivate():
		return "a private address"
	case !addr.IsGlobalUnicast() || slices.ContainsFunc(special, isSpecial) || addr.Is6() && !public.Contains(addr):
		return "an address that isn't public"
	}
	return ""
}
