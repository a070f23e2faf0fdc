import type { JsonObject } from "../../../src/data/json.ts";
import { call, fetchUrl, type Row } from "../policy-calls.ts";

const askByDefault = "ask by default";
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
    "A domain is denied",
    denyDomain,
    fetchUrl("https://evil.com/x"),
    denied,
    ["matched_deny_rule", "network_rule"],
  ],
  ["A subdomain is denied", denyDomain, fetchUrl("https://a.b.evil.com"), denied],
  ["Another domain is not denied", denyDomain, fetchUrl("https://notevil.com"), none],
  ["A domain in capitals is denied", denyDomain, fetchUrl("https://EVIL.com"), denied],
  ["A domain with a final dot is denied", denyDomain, fetchUrl("https://evil.com./x"), denied],
  ["A domain with a port is denied", denyDomain, fetchUrl("https://evil.com:8443/x"), denied],
  [
    "A user name before the domain is not a domain",
    denyDomain,
    fetchUrl("https://good.com@evil.com/"),
    denied,
  ],
  ["Line breaks in an address are ignored", denyDomain, fetchUrl("ht\ntps://ev\til.com/"), denied],
  [
    "Line breaks in an address under another argument are ignored",
    denyDomain,
    call("x", { link: "ht\ntps://ev\til.com/" }),
    denied,
  ],
  ["Blanks around an address are ignored", denyDomain, fetchUrl("  https://evil.com/"), denied],
  ["A backslash counts as a slash", denyDomain, fetchUrl("https:\\\\evil.com\\x"), denied],
  [
    "A full-width letter counts as a browser treats it",
    denyDomain,
    fetchUrl("https://ｅvil.com"),
    denied,
  ],
  ["Another scheme is denied", denyDomain, fetchUrl("wss://evil.com/x"), denied],
  [
    "An address in another argument is denied",
    denyDomain,
    fetchUrl("https://good.com", { proxy: "http://evil.com" }),
    denied,
  ],
  [
    "An address deep in an argument is denied",
    denyDomain,
    fetchUrl("https://good.com", { a: [{ b: "http://evil.com" }] }),
    denied,
  ],
  [
    "An address under __proto__ is denied",
    denyDomain,
    call("x", JSON.parse('{"__proto__":{"u":"http://evil.com"}}')),
    denied,
  ],
  [
    "An address without a scheme is denied, because it may lead anywhere",
    denyDomain,
    fetchUrl("evil.com/x"),
    denied,
  ],
  [
    "A text that contains an address is not an address",
    denyDomain,
    call("x", { text: "see https://evil.com" }),
    none,
  ],
  [
    "Many blanks before an address do not hide it",
    denyDomain,
    call("x", { link: `${" ".repeat(70)}https://evil.com` }),
    denied,
  ],
  [
    "Many line breaks in a scheme do not hide an address",
    denyDomain,
    call("x", { link: `ht${"\n".repeat(70)}tps://evil.com` }),
    denied,
  ],
  [
    "Invisible characters before an address do not hide it",
    denyDomain,
    call("x", { link: "\u200b\u00a0https://evil.com" }),
    denied,
  ],
  [
    "Invisible characters inside an address do not hide it",
    denyDomain,
    call("x", { link: "https://ev\u200bil.com" }),
    denied,
  ],
  [
    "An address that starts with // is denied",
    denyDomain,
    call("x", { link: "//evil.com" }),
    denied,
  ],
  [
    "An address with backslashes is denied",
    denyDomain,
    call("x", { link: " \\\\evil.com/x" }),
    denied,
  ],
  ["A comment is not an address", denyDomain, call("x", { text: "// see evil.com" }), none],
  [
    "An address below an argument named url is denied",
    denyDomain,
    call("x", { request: { url: "evil.com" } }),
    denied,
  ],
  [
    "An address in lists below an argument named urls is denied",
    denyDomain,
    call("x", { urls: [["evil.com"]] }),
    denied,
  ],
  [
    "An address in parts below an argument named url is denied",
    denyDomain,
    call("x", { url: { host: "evil.com" } }),
    denied,
  ],
  [
    "An argument whose name ends with Url is an address",
    denyDomain,
    call("x", { baseUrl: "evil.com" }),
    denied,
  ],
  [
    "An argument whose name ends with _URL is an address",
    denyDomain,
    call("x", { callback_URL: "evil.com" }),
    denied,
  ],
  ["An argument named URL is an address", denyDomain, call("x", { URL: "evil.com" }), denied],
  ["An argument named curl is not an address", denyDomain, call("x", { curl: "evil.com" }), none],
  [
    "An address as an argument name is denied",
    denyDomain,
    call("x", { "https://evil.com": 1 }),
    denied,
  ],
  [
    "An address without a scheme next to an allowed address needs approval",
    allowDomain,
    fetchUrl("https://api.good.com", { via: { uri: "api.good.com" } }),
    askByDefault,
  ],
  [
    "An address that only some parsers recognize needs approval",
    allowDomain,
    fetchUrl("https://api.good.com", { next: "\u200bhttps://api.good.com" }),
    askByDefault,
  ],
  ["A call without an address is not denied", denyDomain, call("x", { text: "hi" }), none],
  ["A domain is allowed", allowDomain, fetchUrl("https://api.good.com/x"), allowed],
  [
    "The parent of an allowed domain is not allowed",
    allowDomain,
    fetchUrl("https://good.com/x"),
    askByDefault,
  ],
  [
    "A domain in the path is not the domain",
    allowDomain,
    fetchUrl("https://evil.com/a.good.com"),
    askByDefault,
  ],
  [
    "A longer domain is a different domain",
    allowDomain,
    fetchUrl("https://api.good.com.evil.com"),
    askByDefault,
  ],
  [
    "Every address has to be allowed",
    allowDomain,
    fetchUrl("https://api.good.com", { next: "https://evil.com" }),
    askByDefault,
  ],
  [
    "A string that is not an address is not allowed",
    allowDomain,
    fetchUrl("api.good.com"),
    askByDefault,
  ],
  [
    "An invalid address next to an allowed address needs approval",
    allowDomain,
    fetchUrl("https://api.good.com", { uri: "evil.com" }),
    askByDefault,
  ],
  [
    "An address that is too long is not allowed",
    allowDomain,
    fetchUrl(`https://api.good.com/${"x".repeat(5_000)}`),
    askByDefault,
  ],
  [
    "An address that is too long matches every deny rule about domains",
    denyDomain,
    fetchUrl(`https://api.good.com/${"x".repeat(5_000)}`),
    denied,
  ],
  [
    "A call without an address does not match an allow rule about domains",
    allowDomain,
    call("x", {}),
    askByDefault,
  ],
];

const URLS: readonly Row[] = [
  ["An address is denied", denyUrl, fetchUrl("https://good.com/admin/x"), denied],
  [
    "An address with a percent escape is denied",
    denyUrl,
    fetchUrl("https://good.com/%61dmin"),
    denied,
  ],
  ["An address in capitals is denied", denyUrl, fetchUrl("https://good.com/ADMIN"), denied],
  ["An address with .. is denied", denyUrl, fetchUrl("https://good.com/x/../admin"), denied],
  [
    "An address with %2e%2e is denied",
    denyUrl,
    fetchUrl("https://good.com/x/%2e%2e/admin"),
    denied,
  ],
  [
    "An address with user name and password is denied",
    denyUrl,
    fetchUrl("https://u:p@good.com/admin"),
    denied,
  ],
  ["Another path is not denied", denyUrl, fetchUrl("https://good.com/x"), none],
  [
    "Another scheme is not denied by a pattern with a scheme",
    denyUrl,
    fetchUrl("http://good.com/admin"),
    none,
  ],
  ["An address is allowed", allowUrl, fetchUrl("https://a.good.com/v1/x?y=z"), allowed],
  ["Another path needs approval", allowUrl, fetchUrl("https://a.good.com/v2/x"), askByDefault],
  [
    "A star does not match from the host into the path",
    allowUrl,
    fetchUrl("https://evil.com/.good.com/v1/x"),
    askByDefault,
  ],
  [
    "A star does not match a user name before the host",
    allowUrl,
    fetchUrl("https://x.good.com@evil.com/v1/x"),
    askByDefault,
  ],
  [
    ".. cannot leave an allowed path",
    allowUrl,
    fetchUrl("https://a.good.com/v1/../v2/x"),
    askByDefault,
  ],
  [
    "An escaped slash cannot leave an allowed path",
    allowUrl,
    fetchUrl("https://a.good.com/v1/..%2fv2/x"),
    askByDefault,
  ],
  [
    "Another port is a different host",
    allowUrl,
    fetchUrl("https://a.good.com:8443/v1/x"),
    askByDefault,
  ],
  [
    "Another scheme is a different address",
    allowUrl,
    fetchUrl("http://a.good.com/v1/x"),
    askByDefault,
  ],
];

const denyDelete = { rules: [{ id: "it", deny: { method: "DELETE" } }], default: "allow" };
const allowGet = {
  rules: [{ id: "it", allow: { tool: "web_fetch", domain: "good.com", method: "GET" } }],
};
const good = (more: JsonObject) => fetchUrl("https://good.com", more);

/** Ambiguous methods match deny rules and never match allow rules. */
const ODD_METHODS: readonly Row[] = [
  ["A method in a list is denied", denyDelete, good({ method: ["DELETE"] }), denied],
  ["A method in an object is denied", denyDelete, good({ method: { a: "DELETE" } }), denied],
  [
    "A method with many blanks is denied",
    denyDelete,
    good({ method: `DELETE${" ".repeat(40)}` }),
    denied,
  ],
  [
    "A method with invisible characters is denied",
    denyDelete,
    good({ method: "DEL\u200bETE" }),
    denied,
  ],
  ["A method in full-width letters is denied", denyDelete, good({ method: "ＤELETE" }), denied],
  ["A method combined with another is denied", denyDelete, good({ method: "GET, DELETE" }), denied],
  ["A method under Method is denied", denyDelete, good({ Method: "DELETE" }), denied],
  [
    "A method below another argument is denied",
    denyDelete,
    good({ request: { method: "delete" } }),
    denied,
  ],
  [
    "Two different methods are denied",
    denyDelete,
    good({ method: "GET", request: { method: "PUT" } }),
    denied,
  ],
  ["A word that is not a method is not denied", denyDelete, good({ method: "credit_card" }), none],
  [
    "The same method twice is not denied",
    denyDelete,
    good({ method: "get", r: { method: "GET" } }),
    none,
  ],
  ["A null method is not denied", denyDelete, good({ method: null }), none],
  ["A method in a list is not allowed", allowGet, good({ method: ["GET"] }), askByDefault],
  [
    "Two different methods are not allowed",
    allowGet,
    good({ method: "GET", r: { method: "DELETE" } }),
    askByDefault,
  ],
  [
    "A method with invisible characters is not allowed",
    allowGet,
    good({ method: "G\u200bET" }),
    askByDefault,
  ],
  [
    "The same method twice is allowed",
    allowGet,
    good({ method: "GET", r: { method: "get" } }),
    allowed,
  ],
];

const METHODS: readonly Row[] = [
  [
    "A rule with a method in lowercase matches",
    { rules: [{ id: "it", deny: { method: "post" } }], default: "allow" },
    fetchUrl("https://good.com", { method: "POST" }),
    denied,
  ],
  [
    "A method in lowercase is denied",
    { rules: [{ id: "it", deny: { method: "POST" } }], default: "allow" },
    fetchUrl("https://good.com", { method: "post " }),
    denied,
  ],
  [
    "Another method is not denied",
    { rules: [{ id: "it", deny: { method: "POST" } }], default: "allow" },
    fetchUrl("https://good.com", { method: "GET" }),
    none,
  ],
  [
    "A method is allowed together with its domain",
    {
      rules: [
        { id: "it", allow: { tool: "web_fetch", domain: "good.com", method: ["GET", "HEAD"] } },
      ],
    },
    fetchUrl("https://good.com", { method: "get" }),
    allowed,
  ],
  [
    "A missing method does not match an allow rule about methods",
    { rules: [{ allow: { tool: "web_fetch", method: "GET" } }] },
    fetchUrl("https://good.com"),
    askByDefault,
  ],
];

export const NETWORK_CASES: readonly Row[] = [...DOMAINS, ...URLS, ...METHODS, ...ODD_METHODS];
