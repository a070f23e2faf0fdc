import { call, fetchUrl, type Row } from "../calls.ts";

const asked = "ask by default";
const none = "allow by default";
const denied = "deny by rules:it";
const allowed = "allow by rules:it";

const denyDomain = {
  rules: [{ id: "it", deny: { domain: ["evil.com", "*.evil.com"] } }],
  default: "allow",
};
const allowDomain = { rules: [{ id: "it", allow: { domain: "*.good.com" } }] };
const denyUrl = {
  rules: [{ id: "it", deny: { url: "https://good.com/admin*" } }],
  default: "allow",
};
const allowUrl = { rules: [{ id: "it", allow: { url: "https://*.good.com/v1/*" } }] };

const DOMAINS: readonly Row[] = [
  [
    "a domain is denied",
    denyDomain,
    fetchUrl("https://evil.com/x"),
    denied,
    ["matched_deny_rule", "network_rule"],
  ],
  ["one below it too", denyDomain, fetchUrl("https://a.b.evil.com"), denied],
  ["another is not", denyDomain, fetchUrl("https://notevil.com"), none],
  ["capitals are the same", denyDomain, fetchUrl("https://EVIL.com"), denied],
  ["a dot at the end is the same", denyDomain, fetchUrl("https://evil.com./x"), denied],
  ["a port is the same", denyDomain, fetchUrl("https://evil.com:8443/x"), denied],
  ["a name before it is no domain", denyDomain, fetchUrl("https://good.com@evil.com/"), denied],
  ["a line break in it is left out", denyDomain, fetchUrl("ht\ntps://ev\til.com/"), denied],
  [
    "a line break in one of another name too",
    denyDomain,
    call("x", { link: "ht\ntps://ev\til.com/" }),
    denied,
  ],
  ["blanks around it are left out", denyDomain, fetchUrl("  https://evil.com/"), denied],
  ["a backslash is a slash", denyDomain, fetchUrl("https:\\\\evil.com\\x"), denied],
  [
    "a full-width letter is the same to a browser",
    denyDomain,
    fetchUrl("https://ｅvil.com"),
    denied,
  ],
  ["another protocol is the same", denyDomain, fetchUrl("wss://evil.com/x"), denied],
  [
    "in another argument",
    denyDomain,
    fetchUrl("https://good.com", { proxy: "http://evil.com" }),
    denied,
  ],
  [
    "deep in an argument",
    denyDomain,
    fetchUrl("https://good.com", { a: [{ b: "http://evil.com" }] }),
    denied,
  ],
  [
    "under __proto__",
    denyDomain,
    call("x", JSON.parse('{"__proto__":{"u":"http://evil.com"}}')),
    denied,
  ],
  ["an address without a protocol may lead anywhere", denyDomain, fetchUrl("evil.com/x"), denied],
  [
    "text with an address in it is text",
    denyDomain,
    call("x", { text: "see https://evil.com" }),
    none,
  ],
  ["a call without an address goes nowhere", denyDomain, call("x", { text: "hi" }), none],
  ["a domain is allowed", allowDomain, fetchUrl("https://api.good.com/x"), allowed],
  ["the one above it is not", allowDomain, fetchUrl("https://good.com/x"), asked],
  ["a path is no domain", allowDomain, fetchUrl("https://evil.com/a.good.com"), asked],
  ["a longer one is another", allowDomain, fetchUrl("https://api.good.com.evil.com"), asked],
  [
    "every address has to be allowed",
    allowDomain,
    fetchUrl("https://api.good.com", { next: "https://evil.com" }),
    asked,
  ],
  ["what is no address is not allowed", allowDomain, fetchUrl("api.good.com"), asked],
  [
    "nor is it beside one that is",
    allowDomain,
    fetchUrl("https://api.good.com", { uri: "evil.com" }),
    asked,
  ],
  [
    "an address that is too long is not allowed",
    allowDomain,
    fetchUrl(`https://api.good.com/${"x".repeat(5_000)}`),
    asked,
  ],
  [
    "an address that is too long is denied where any is",
    denyDomain,
    fetchUrl(`https://api.good.com/${"x".repeat(5_000)}`),
    denied,
  ],
  ["no address is not every address", allowDomain, call("x", {}), asked],
];

const URLS: readonly Row[] = [
  ["an address is denied", denyUrl, fetchUrl("https://good.com/admin/x"), denied],
  ["with an escape", denyUrl, fetchUrl("https://good.com/%61dmin"), denied],
  ["in capitals", denyUrl, fetchUrl("https://good.com/ADMIN"), denied],
  ["by way of ..", denyUrl, fetchUrl("https://good.com/x/../admin"), denied],
  ["by way of %2e%2e", denyUrl, fetchUrl("https://good.com/x/%2e%2e/admin"), denied],
  ["with a name and password", denyUrl, fetchUrl("https://u:p@good.com/admin"), denied],
  ["another path is not", denyUrl, fetchUrl("https://good.com/x"), none],
  ["another protocol is not", denyUrl, fetchUrl("http://good.com/admin"), none],
  ["an address is allowed", allowUrl, fetchUrl("https://a.good.com/v1/x?y=z"), allowed],
  ["another path is asked", allowUrl, fetchUrl("https://a.good.com/v2/x"), asked],
  [
    "no star reaches from the host into the path",
    allowUrl,
    fetchUrl("https://evil.com/.good.com/v1/x"),
    asked,
  ],
  [
    "nor into a name before the host",
    allowUrl,
    fetchUrl("https://x.good.com@evil.com/v1/x"),
    asked,
  ],
  ["nor out of the path by ..", allowUrl, fetchUrl("https://a.good.com/v1/../v2/x"), asked],
  ["nor by an escaped slash", allowUrl, fetchUrl("https://a.good.com/v1/..%2fv2/x"), asked],
  ["another port is another host", allowUrl, fetchUrl("https://a.good.com:8443/v1/x"), asked],
  ["another protocol is another", allowUrl, fetchUrl("http://a.good.com/v1/x"), asked],
];

const METHODS: readonly Row[] = [
  [
    "a method is denied",
    { rules: [{ id: "it", deny: { method: "post" } }], default: "allow" },
    fetchUrl("https://good.com", { method: "POST" }),
    denied,
  ],
  [
    "in small letters too",
    { rules: [{ id: "it", deny: { method: "POST" } }], default: "allow" },
    fetchUrl("https://good.com", { method: "post " }),
    denied,
  ],
  [
    "another is not",
    { rules: [{ id: "it", deny: { method: "POST" } }], default: "allow" },
    fetchUrl("https://good.com", { method: "GET" }),
    none,
  ],
  [
    "a method is allowed with its domain",
    {
      rules: [
        { id: "it", allow: { tool: "web_fetch", domain: "good.com", method: ["GET", "HEAD"] } },
      ],
    },
    fetchUrl("https://good.com", { method: "get" }),
    allowed,
  ],
  [
    "no method is none that is allowed",
    { rules: [{ allow: { tool: "web_fetch", method: "GET" } }] },
    fetchUrl("https://good.com"),
    asked,
  ],
];

export const NETWORK_CASES: readonly Row[] = [...DOMAINS, ...URLS, ...METHODS];
