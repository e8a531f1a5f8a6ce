package hosts

import "net/netip"

// special are the ranges of addresses that aren't public, besides those that netip knows
// by itself (the IANA registries of special-purpose addresses).
var special = []struct {
	netip.Prefix
	kind string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "an address of this network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "an address of a provider's own network"},
	{netip.MustParsePrefix("168.63.129.16/32"), "the address of a cloud's own services"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.0.2.0/24"), "an address of documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a reserved address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "an address of tests"},
	{netip.MustParsePrefix("198.51.100.0/24"), "an address of documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "an address of documentation"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},
	{netip.MustParsePrefix("2001::/23"), "a reserved address"},
	{netip.MustParsePrefix("2001:db8::/32"), "an address of documentation"},
	{netip.MustParsePrefix("3fff::/20"), "an address of documentation"},
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
	switch {
	case addr.IsUnspecified():
		return "no address of a host"
	case addr.IsLoopback():
		return "an address of this machine"
	case addr.IsLinkLocalUnicast():
		return "a link-local address"
	case addr.IsMulticast():
		return "an address of many hosts"
	case addr.IsPrivate():
		return "a private address"
	}
	for _, s := range special {
		if s.Contains(addr) {
			return s.kind
		}
	}
	if addr.Is4() {
		return ""
	}
	for _, e := range embedding {
		if bytes := addr.As16(); e.Contains(addr) {
			return Kind(netip.AddrFrom4([4]byte(bytes[e.at : e.at+4])))
		}
	}
	if !public.Contains(addr) {
		return "a reserved address"
	}
	return ""
}
