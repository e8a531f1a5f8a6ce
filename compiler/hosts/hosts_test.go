package hosts

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

// LANGUAGE.md#http-requests: which addresses are public, in every form in which one is written.
func TestKind(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1", "127.8.9.1", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200",
		"168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254",
		"ff02::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1", "2001::1", "2001:db8::1", "3fff::1", "100::1", "4000::1",
	} {
		if Kind(netip.MustParseAddr(text)) == "" {
			t.Errorf("%s counts as public", text)
		}
	}
	for _, text := range []string{"1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"} {
		if kind := Kind(netip.MustParseAddr(text)); kind != "" {
			t.Errorf("%s counts as %s", text, kind)
		}
	}
}

// Whatever an IPv4 address is, it is that in each form that IPv6 has for it.
func TestEmbedded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		four := [4]byte{byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32())}
		want := Kind(netip.AddrFrom4(four))
		for _, form := range [][16]byte{
			{10: 0xff, 11: 0xff, 12: four[0], 13: four[1], 14: four[2], 15: four[3]},
			{0: 0, 1: 0x64, 2: 0xff, 3: 0x9b, 12: four[0], 13: four[1], 14: four[2], 15: four[3]},
			{0: 0x20, 1: 0x02, 2: four[0], 3: four[1], 4: four[2], 5: four[3]},
		} {
			if got := Kind(netip.AddrFrom16(form)); got != want {
				t.Fatalf("%v as %v: %q, want %q", four, netip.AddrFrom16(form), got, want)
			}
		}
	}
}

func list(t *testing.T, l List, texts ...string) List {
	t.Helper()
	for _, text := range texts {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		l.Entries = append(l.Entries, e)
	}
	return l
}

// LANGUAGE.md#http-requests: what lists allow. A name vouches for no address but localhost for this machine.
func TestRules(t *testing.T) {
	settings := list(t, List{By: "obelus.yaml"}, "api.example.com", "*.example.org:8443", "10.0.0.0/8", "localhost:8080")
	trusted, final := settings, list(t, List{By: "the policy", Final: true}, "api.example.com", "127.0.0.1")
	trusted.Counts = true
	added := list(t, List{By: "you", Adds: true, Counts: true}, "other.example.net", "127.0.0.1:9000", "[::1]:9000", "private.example.net")
	for _, c := range []struct {
		rules      Rules
		host, port string
		addr       string // "" is unknown
		allowed    bool
	}{
		{nil, "any.example", "443", "8.8.8.8", true},
		{nil, "any.example", "443", "", true},
		{nil, "any.example", "443", "10.0.0.1", false},
		{nil, "127.0.0.1", "80", "", false},
		{nil, "localhost", "80", "", false},
		{nil, "x.localhost.", "80", "", false},
		{nil, "LOCALHOST", "80", "", false},
		{nil, "[::1]", "80", "", false},
		{nil, "0x7f.1", "80", "127.0.0.1", false},
		{nil, "0x7f.1", "80", "", false},
		{nil, "2852039166", "80", "", false}, // 169.254.169.254
		{nil, "0xa9fea9fe", "80", "", false},
		{nil, "0251.0376.0251.0376", "80", "", false},
		{nil, "169.0376.43518.", "80", "", false},
		{nil, "134744072", "80", "", true}, // 8.8.8.8
		{nil, "1.2.3.4.5", "80", "8.8.8.8", true},
		{Rules{trusted}, "0xa010203", "80", "", true}, // 10.1.2.3
		{Rules{settings}, "api.example.com", "443", "8.8.8.8", true},
		{Rules{settings}, "API.example.com.", "443", "8.8.8.8", true},
		{Rules{settings}, "api.example.com.evil.test", "443", "8.8.8.8", false},
		{Rules{settings}, "a.example.org", "8443", "8.8.8.8", true},
		{Rules{settings}, "a.b.example.org", "8443", "8.8.8.8", true},
		{Rules{settings}, "example.org", "8443", "8.8.8.8", false},
		{Rules{settings}, "a.example.org", "443", "8.8.8.8", false},
		{Rules{settings}, "aexample.org", "8443", "8.8.8.8", false},
		{Rules{settings}, "10.1.2.3", "80", "", false}, // it isn't trusted
		{Rules{trusted}, "10.1.2.3", "80", "", true},
		{Rules{trusted}, "db.internal", "80", "10.1.2.3", true},
		{Rules{trusted}, "db.internal", "80", "8.8.8.8", false},
		{Rules{trusted}, "api.example.com", "443", "127.0.0.1", false}, // a name that leads elsewhere
		{Rules{trusted}, "api.example.com", "443", "169.254.169.254", false},
		{Rules{trusted}, "localhost", "8080", "127.0.0.1", true},
		{Rules{trusted}, "localhost", "8080", "::1", true},
		{Rules{trusted}, "localhost", "8081", "127.0.0.1", false},
		{Rules{trusted}, "localhost", "8080", "192.168.0.1", false},
		{Rules{added}, "any.example", "443", "8.8.8.8", true},
		{Rules{added}, "127.0.0.1", "9000", "127.0.0.1", true},
		{Rules{added}, "::1", "9000", "::1", true},
		{Rules{added}, "127.0.0.1", "9000", "::ffff:127.0.0.1", true},
		{Rules{added}, "127.0.0.1", "9001", "127.0.0.1", false},
		{Rules{added}, "private.example.net", "80", "10.0.0.1", false},
		{Rules{settings, added}, "other.example.net", "443", "8.8.8.8", true},
		{Rules{settings, added}, "third.example.net", "443", "8.8.8.8", false},
		{Rules{settings, added, final}, "other.example.net", "443", "8.8.8.8", false},
		{Rules{settings, added, final}, "api.example.com", "443", "8.8.8.8", true},
		{Rules{final}, "127.0.0.1", "80", "127.0.0.1", false}, // the policy doesn't count
		{Rules{{By: "none"}}, "any.example", "443", "8.8.8.8", false},
	} {
		refusal := c.rules.Refuse(c.host, c.port, false)
		if c.addr != "" {
			refusal = c.rules.RefuseAddress(c.host, c.port, netip.MustParseAddr(c.addr))
		}
		if (refusal == nil) != c.allowed {
			t.Errorf("%v, %s:%s at %q: %v", c.rules, c.host, c.port, c.addr, refusal)
		}
	}
	if (Rules{trusted}).Refuse("any.example", "443", false) != nil || (Rules{trusted}).Refuse("any.example", "443", true) == nil {
		t.Error("a list with addresses says nothing of a name whose address is yet to be found, and refuses it where it never will be")
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"", "a b", "a:0", "a:65536", "a:b", "a:080", "*.", "*", "a..b", "a/b", "https://a", "10.0.0.1/8", "[::1", "a@b", "ä.example", "*.*.a", "a:1:2"} {
		if e, err := Parse(text); err == nil {
			t.Errorf("%q is read as %+v", text, e)
		}
	}
	for _, text := range []string{"a", "a:1", "*.a.b:2", "1.2.3.4", "1.2.3.4:5", "::1", "[::1]:5", "10.0.0.0/8", "10.0.0.0/8:5", "fd00::/8", "[fd00::/8]:5", "xn--a.b.", "my_host"} {
		e, err := Parse(text)
		if err != nil || e.String() != text {
			t.Errorf("%q: %v", text, err)
		}
	}
}
