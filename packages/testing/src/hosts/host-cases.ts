/**
 * URLs whose host is not an allowed one, for every entry point of outgoing
 * requests: spellings of addresses, look-alikes, and URLs that two parsers can split
 * in different ways; also hosts that are accepted. `api.example.com` and
 * `*.wild.example.com` are allowed, on port 443. It is one piece because it is a
 * table.
 */

/** A URL and the code of its refusal. */
export interface HostCase {
  readonly url: string;
  readonly code: "EGRESS_AUTHORITY_INVALID" | "EGRESS_HOST_DENIED" | "EGRESS_PORT_DENIED";
}

/** Addresses that DNS returns for an allowed host. All are refused. */
export type AddressCase = readonly string[];

/** The allowed host of most cases. */
export const caseHost = "api.example.com";

/** The egress list that the cases are written for. */
export const caseHosts: readonly string[] = [caseHost, "*.wild.example.com"];

const invalid = (...urls: readonly string[]): HostCase[] =>
  urls.map((url) => ({ url, code: "EGRESS_AUTHORITY_INVALID" }));
const denied = (...hosts: readonly string[]): HostCase[] =>
  hosts.map((host) => ({ url: `https://${host}/`, code: "EGRESS_HOST_DENIED" }));
const noHost = (...hosts: readonly string[]): HostCase[] =>
  invalid(...hosts.map((host) => `https://${host}/`));
const wrongPort = (...ports: readonly number[]): HostCase[] =>
  ports.map((port) => ({ url: `https://api.example.com:${port}/`, code: "EGRESS_PORT_DENIED" }));

/** Every case. */
export const hostCases: readonly HostCase[] = [
  // IPv4, as every reader of addresses spells it.
  ...noHost(
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0x7F.1",
    "0177.0.0.1",
  ),
  ...noHost("0177.1", "017700000001", "127.0.0.1.", "127.0.0.1..", "0", "0.0.0.0", "00", "0x0", "0x"),
  ...noHost(
    "10.0.0.1",
    "10.1",
    "167772161",
    "0xa000001",
    "012.0.0.1",
    "192.168.0.1",
    "3232235521",
    "172.16.0.1",
  ),
  ...noHost(
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
  ),
  ...noHost("100.64.0.1", "100.100.100.200", "192.0.0.192", "168.63.129.16", "255.255.255.255", "224.0.0.1"),
  ...noHost(
    "8.8.8.8",
    "1.1.1.1",
    "134744072",
    "0x08080808",
    "1.2.3.4.5",
    "256.256.256.256",
    "1.2.3.256",
    "999",
  ),
  ...noHost(
    "127.0.0.1:443",
    "127.0.0.1:80",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "api.example.0x7f",
    "a.b.1",
  ),
  ...noHost(
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "１２７.0.0.1",
    "①②⑦.⓪.⓪.①",
    "²130706433",
    "127.0.0.１",
  ),
  ...noHost(
    "127.0.0.1%00",
    "127.0.0.1\t",
    " 127.0.0.1",
    "127.0.0.1#",
    "+127.0.0.1",
    "-127.0.0.1",
    "127.0.0.0x1",
  ),
  // IPv6, with and without brackets, and IPv4 inside.
  ...noHost(
    "[::1]",
    "[::]",
    "::1",
    "[::1",
    "::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
  ),
  ...noHost(
    "[::ffff:127.0.0.1]",
    "[::FFFF:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "[::127.0.0.1]",
  ),
  ...noHost("[::ffff:0:127.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::ffff:8.8.8.8]"),
  ...noHost(
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[fe80::1%251]",
    "[fd00::1]",
    "[fd00:ec2::254]",
  ),
  ...noHost(
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[2001:db8::1]",
  ),
  ...noHost(
    "[2606:4700:4700::1111]",
    "[ff02::1]",
    "[100::1]",
    "[fec0::1]",
    "[5f00::1]",
    "[::1]:443",
    "[::1].example.com",
  ),
  ...noHost(
    "[v1.fe80::a]",
    "[127.0.0.1]",
    "[api.example.com]",
    "[]",
    "[::1]api.example.com",
    "api.example.com[::1]",
  ),
  // User information, and text that can be mistaken for it.
  ...noHost(
    "user@api.example.com",
    "user:pass@api.example.com",
    "api.example.com@evil.example",
    "@api.example.com",
  ),
  ...noHost(
    "evil.example@api.example.com",
    "api.example.com:443@evil.example",
    "a@b@api.example.com",
    ":@api.example.com",
  ),
  ...noHost(
    "api.example.com%40evil.example",
    "evil.example%40api.example.com",
    "user%3Apass@api.example.com",
  ),
  ...noHost(
    "api.example.com\\@evil.example",
    "evil.example\\@api.example.com",
    "api.example.com:@evil.example",
  ),
  ...noHost(
    "api.example.com&@evil.example",
    "api.example.com;@evil.example",
    "api.example.com ＠evil.example",
  ),
  // Characters that split, join or hide parts of a URL.
  ...noHost(
    "api.example.com\0",
    "api.example.com\0.evil.example",
    "\0api.example.com",
    "api.example.com%00.evil.example",
  ),
  ...noHost(
    "api.example.com\r\nHost: evil.example",
    "api.example.com%0d%0aHost:%20evil.example",
    "api.example.com\n",
  ),
  ...noHost(
    "api.example.com\t",
    "api\t.example.com",
    " api.example.com",
    "api.example.com ",
    "api .example.com",
  ),
  ...noHost(
    "api.example.com\x7f",
    "api.example.com\v",
    "api.example.com\u0085",
    "api.example.com\u00a0",
    "api\u00ad.example.com",
  ),
  ...noHost(
    "api\u200b.example.com",
    "\ufeffapi.example.com",
    "\u202eapi.example.com",
    "api.example.com\u2028",
    "api\u2060.example.com",
  ),
  ...noHost(
    "api.example.com\u{e0001}",
    "api\u034f.example.com",
    "api.example.com\ud800",
    "api\u180e.example.com",
  ),
  // Dots.
  ...noHost(
    "api.example.com.",
    "api.example.com..",
    ".api.example.com",
    "api..example.com",
    "api.example.com.:443",
  ),
  ...noHost(
    "api%2eexample.com",
    "api.example%2ecom",
    "api.example.com%2e",
    "api%252eexample.com",
    ".",
    "..",
    "..com",
  ),
  // Letters that look alike, or change when case is folded.
  ...noHost(
    "аpi.example.com",
    "apі.example.com",
    "api.exаmple.com",
    "api.example.сom",
    "ａｐｉ.example.com",
    "ⓐⓟⓘ.example.com",
  ),
  ...noHost(
    "api。example.com",
    "api．example.com",
    "api｡example.com",
    "api․example.com",
    "api.example。com",
    "api…example.com",
  ),
  ...noHost(
    "𝐚𝐩𝐢.example.com",
    "ᴀᴘɪ.example.com",
    "apı.example.com",
    "API.EXAMPLE.COM\u212a",
    "\u212aapi.example.com",
    "ſapi.example.com",
  ),
  ...noHost(
    "aṕi.example.com",
    "api\u0301.example.com",
    "ﬁ.wild.example.com",
    "ß.wild.example.com",
    "İ.wild.example.com",
  ),
  ...noHost(
    "api.example.com／.evil.example",
    "evil.example／api.example.com",
    "api.example.com⁄evil.example",
    "api.example.com∕",
  ),
  ...noHost(
    "api.example.com＃.evil.example",
    "api.example.com？.evil.example",
    "api.example.com：443",
    "℀.wild.example.com",
  ),
  ...noHost(
    "api.example.com＼evil.example",
    "api.example.com﹕443",
    "例え.wild.example.com",
    "☃.wild.example.com",
  ),
  ...noHost("xn--api-.example.com"),
  ...denied("xn--pi-7kc.example.com", "api.xn--exmple-4nf.com", "api.example.xn--om-nmc"),
  // Names similar to the allowed one.
  ...denied(
    "evil.example",
    "example.com",
    "api.example.com.evil.example",
    "evilapi.example.com",
    "api-example.com",
  ),
  ...denied(
    "api.example.co",
    "api.example.comm",
    "api.example.org",
    "xapi.example.com",
    "a.api.example.com",
    "pi.example.com",
  ),
  ...denied(
    "apiexample.com",
    "api.examplee.com",
    "api.example.com.com",
    "api.example.com.example.com",
    "www.example.com",
  ),
  ...denied(
    "wild.example.com",
    "a.b.wild.example.com",
    "xwild.example.com",
    "a.wild.example.com.evil.example",
    "wild.example",
  ),
  ...denied("a.wildexample.com", "a-wild.example.com", "wild.wild.wild.example.com", "a.wild.example.org"),
  ...denied(
    "localhost.localdomain",
    "metadata.google.internal",
    "instance-data.ec2.internal",
    "host.docker.internal",
  ),
  ...denied(
    "kubernetes.default.svc",
    "127.0.0.1.nip.example",
    "localtest.example",
    "api.example.com.localhost",
    "a.local",
  ),
  ...noHost(
    "localhost",
    "LOCALHOST",
    "metadata",
    "intranet",
    "kubernetes",
    "com",
    "localhost:443",
    "example",
    "api",
  ),
  // Invalid names.
  ...noHost(
    "*.example.com",
    "*.wild.example.com",
    "*",
    "_dmarc.example.com",
    "a_b.wild.example.com",
    "_.wild.example.com",
  ),
  ...noHost(
    "-a.wild.example.com",
    "a-.wild.example.com",
    "a.-wild.example.com",
    `${"a".repeat(64)}.wild.example.com`,
  ),
  ...noHost(
    `${"a.".repeat(125)}wild.example.com`,
    "a~b.wild.example.com",
    "a!.wild.example.com",
    "a$.wild.example.com",
  ),
  ...noHost(
    "a'.wild.example.com",
    '".wild.example.com',
    "a(.wild.example.com",
    "a+b.wild.example.com",
    "a=b.wild.example.com",
  ),
  ...noHost(
    "a,b.wild.example.com",
    "a;b.wild.example.com",
    "a|b.wild.example.com",
    "<a>.wild.example.com",
    "{a}.wild.example.com",
  ),
  ...noHost(
    "api.example.com,evil.example",
    "api.example.com|evil.example",
    "api.example.com`evil.example",
    "api.example.com^",
  ),
  ...noHost(
    "api.example.com%2fevil.example",
    "api.example.com%5cevil.example",
    "api.example.com%23",
    "api.example.com%3f",
    "%",
  ),
  ...noHost(
    "api.example.com\\evil.example",
    "evil.example\\api.example.com",
    "\\\\api.example.com",
    "api.example.com\\",
  ),
  // Ports.
  ...wrongPort(80, 22, 25, 444, 3306, 5432, 6379, 8080, 8443, 65535),
  ...noHost(
    "api.example.com:",
    "api.example.com:0",
    "api.example.com:0443",
    "api.example.com:65536",
    "api.example.com:99999",
  ),
  ...noHost(
    "api.example.com:443443",
    "api.example.com:-1",
    "api.example.com:+443",
    "api.example.com:4 43",
    "api.example.com:４４３",
  ),
  ...noHost(
    "api.example.com:abc",
    "api.example.com:443:443",
    "api.example.com:0x1bb",
    "api.example.com:443.",
    "api.example.com:443,80",
  ),
  ...noHost(
    "api.example.com:443%40evil.example",
    "api.example.com:https",
    ":443",
    "api.example.com:4e2",
    "api.example.com:443\0",
  ),
  // Schemes, and incomplete URLs.
  ...invalid(
    "",
    "https",
    "https:",
    "https:/",
    "https://",
    "https:///",
    "https://?x",
    "https://#x",
    "//api.example.com/",
    "api.example.com",
  ),
  ...invalid(
    "http://api.example.com/",
    "HTTPS://api.example.com/",
    "hTTps://api.example.com/",
    "ftp://api.example.com/",
  ),
  ...invalid(
    "https:api.example.com",
    "https:/api.example.com/",
    "https:///api.example.com/",
    "https:////api.example.com/",
  ),
  ...invalid(
    "https:\\\\api.example.com\\",
    "https:/\\api.example.com/",
    "wss://api.example.com/",
    "ws://api.example.com/",
  ),
  ...invalid(
    "file:///etc/passwd",
    "data:text/plain,x",
    "javascript:alert(1)",
    "gopher://api.example.com:70/",
    "unix:/var/run/docker.sock",
  ),
  ...invalid(
    "blob:https://api.example.com/x",
    "view-source:https://api.example.com/",
    " https://api.example.com/",
    "\thttps://api.example.com/",
  ),
  ...invalid(
    "\nhttps://api.example.com/",
    "https ://api.example.com/",
    "ht\ntps://api.example.com/",
    "https://https://api.example.com/",
  ),
  // Fragments, and paths that cannot be sent.
  ...invalid(
    "https://api.example.com#@evil.example/",
    "https://api.example.com/#x",
    "https://api.example.com/a b",
    "https://api.example.com/\0",
  ),
  ...invalid(
    "https://api.example.com/a\r\nX-Injected: 1",
    "https://api.example.com/\\evil.example",
    "https://api.example.com/é",
  ),
  ...invalid(
    "https://api.example.com/\x7f",
    "https://api.example.com/?q=\n",
    "https://api.example.com/?q=日本",
    "https://api.example.com\\/",
  ),
  ...invalid(`https://api.example.com/${"a".repeat(40_000)}`),
];

/** DNS answers for `api.example.com`, none of which may be connected to. */
export const addressCases: readonly AddressCase[] = [
  ...[
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
  ],
  ...[
    "192.168.1.1",
    "169.254.169.254",
    "169.254.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "100.100.100.200",
    "192.0.0.1",
  ],
  ...[
    "192.0.0.192",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "198.18.0.1",
    "198.19.255.255",
    "192.88.99.1",
  ],
  ...[
    "192.31.196.1",
    "192.175.48.1",
    "192.52.193.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
  ],
  ...[
    "168.63.129.16",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:a9fe:a9fe",
    "::127.0.0.1",
    "::8.8.8.8",
  ],
  ...["fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fd00:ec2::254", "fec0::1", "ff02::1", "ff0e::1"],
  ...[
    "64:ff9b::808:808",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2002:808:808::1",
    "2002:7f00:1::1",
    "2001::1",
    "2001:db8::1",
  ],
  ...[
    "2001:2::1",
    "2001:3::1",
    "2001:4:112::1",
    "2001:10::1",
    "2001:20::1",
    "2001:30::1",
    "2001:1ff::1",
    "2620:4f:8000::1",
  ],
  ...[
    "100::1",
    "3fff::1",
    "5f00::1",
    "4000::1",
    "8000::1",
    "::ffff:0:127.0.0.1",
    "0:0:0:0:0:0:0:1",
    "::FFFF:10.0.0.1",
  ],
  // Answers that no resolver should return.
  ...[
    "0177.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "localhost",
    "[::1]",
    "127.0.0.1 ",
    "127.0.0.1\n",
    "",
    "8.8.8.8:80",
  ],
]
  .map((address) => [address])
  .concat([
    ["93.184.215.14", "127.0.0.1"],
    ["10.0.0.1", "8.8.8.8"],
    ["2606:4700:4700::1111", "::1"],
    ["8.8.8.8", "8.8.4.4", "fd00::1"],
  ]);

/** Hosts as requests name them, all of which are accepted once they are allowed. */
export const benignHosts: readonly string[] = [
  ...[
    "api.github.com",
    "api.stripe.com",
    "hooks.slack.com",
    "api.openai.com",
    "api.telegram.org",
    "www.googleapis.com",
  ],
  ...[
    "API.GitHub.com",
    "Api.Example.Com",
    "EXAMPLE.ORG",
    "1password.com",
    "a1.2b.com",
    "0.pool.ntp.org",
    "123.example.com",
  ],
  ...[
    "0x7f.example.com",
    "127-0-0-1.example.com",
    "10-0-0-1.nip.example",
    "x--y.example.com",
    "a-b-c.example.com",
  ],
  ...[
    "xn--bcher-kva.example",
    "xn--fiqs8s.example.cn",
    "example.xn--p1ai",
    "xn--e1afmkfd.xn--p1ai",
    "t.co",
    "x.ai",
    "g.cn",
  ],
  ...[
    "a.b.c.d.e.f.g.example.com",
    `${"a".repeat(63)}.example.com`,
    `${"abcdefgh.".repeat(26)}example.com`,
    "s3.eu-west-1.amazonaws.com",
  ],
  ...[
    "my-bucket.s3.amazonaws.com",
    "company.atlassian.net",
    "tenant.zendesk.com",
    "us-east-1.console.aws.amazon.com",
    "api.x.company",
  ],
  ...[
    "localhost.example.com",
    "metadata.example.com",
    "internal.example.com",
    "1.1.1.1.example.com",
    "api2.example.io",
    "graph.microsoft.com",
    "e.e",
  ],
];
