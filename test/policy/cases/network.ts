import type { JsonObject } from "../../../src/data/json.ts";
import { call, fetchUrl, type Row } from "../policy-calls.ts";

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
  [
    "many blanks before an address hide nothing",
    denyDomain,
    call("x", { link: `${" ".repeat(70)}https://evil.com` }),
    denied,
  ],
  [
    "many line ends inside its scheme hide nothing",
    denyDomain,
    call("x", { link: `ht${"\n".repeat(70)}tps://evil.com` }),
    denied,
  ],
  [
    "what is not seen before it hides nothing",
    denyDomain,
    call("x", { link: "\u200b\u00a0https://evil.com" }),
    denied,
  ],
  ["nor does it within", denyDomain, call("x", { link: "https://ev\u200bil.com" }), denied],
  ["an address without a scheme", denyDomain, call("x", { link: "//evil.com" }), denied],
  ["one with backslashes", denyDomain, call("x", { link: " \\\\evil.com/x" }), denied],
  ["a comment is no address", denyDomain, call("x", { text: "// see evil.com" }), none],
  ["deep under its name", denyDomain, call("x", { request: { url: "evil.com" } }), denied],
  ["in lists under its name", denyDomain, call("x", { urls: [["evil.com"]] }), denied],
  ["in parts under its name", denyDomain, call("x", { url: { host: "evil.com" } }), denied],
  ["under a longer name", denyDomain, call("x", { baseUrl: "evil.com" }), denied],
  ["under a longer name with _", denyDomain, call("x", { callback_URL: "evil.com" }), denied],
  ["under a name in capitals", denyDomain, call("x", { URL: "evil.com" }), denied],
  ["not under a name that only ends so", denyDomain, call("x", { curl: "evil.com" }), none],
  ["as a name", denyDomain, call("x", { "https://evil.com": 1 }), denied],
  [
    "what has no scheme is not allowed beside one that is",
    allowDomain,
    fetchUrl("https://api.good.com", { via: { uri: "api.good.com" } }),
    asked,
  ],
  [
    "nor is what only some readers see",
    allowDomain,
    fetchUrl("https://api.good.com", { next: "\u200bhttps://api.good.com" }),
    asked,
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

const denyDelete = { rules: [{ id: "it", deny: { method: "DELETE" } }], default: "allow" };
const allowGet = {
  rules: [{ id: "it", allow: { tool: "web_fetch", domain: "good.com", method: "GET" } }],
};
const good = (more: JsonObject) => fetchUrl("https://good.com", more);

/** What nobody can tell is denied, and never allowed. */
const ODD_METHODS: readonly Row[] = [
  ["a method in a list", denyDelete, good({ method: ["DELETE"] }), denied],
  ["a method in an object", denyDelete, good({ method: { a: "DELETE" } }), denied],
  ["a method with many blanks", denyDelete, good({ method: `DELETE${" ".repeat(40)}` }), denied],
  ["a method with what is not seen", denyDelete, good({ method: "DEL\u200bETE" }), denied],
  ["a method in full-width letters", denyDelete, good({ method: "ＤELETE" }), denied],
  ["a method with another", denyDelete, good({ method: "GET, DELETE" }), denied],
  ["a method under its name in capitals", denyDelete, good({ Method: "DELETE" }), denied],
  ["a method deeper", denyDelete, good({ request: { method: "delete" } }), denied],
  ["two methods", denyDelete, good({ method: "GET", request: { method: "PUT" } }), denied],
  ["not a word that is none", denyDelete, good({ method: "credit_card" }), none],
  ["not the same one twice", denyDelete, good({ method: "get", r: { method: "GET" } }), none],
  ["not null", denyDelete, good({ method: null }), none],
  ["a list is not allowed", allowGet, good({ method: ["GET"] }), asked],
  ["two are not allowed", allowGet, good({ method: "GET", r: { method: "DELETE" } }), asked],
  ["what is not seen is not allowed", allowGet, good({ method: "G\u200bET" }), asked],
  ["the same twice is", allowGet, good({ method: "GET", r: { method: "get" } }), allowed],
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

export const NETWORK_CASES: readonly Row[] = [...DOMAINS, ...URLS, ...METHODS, ...ODD_METHODS];
