import { expect, it } from "vitest";
import { refuseOtherPages } from "./portal-access.ts";

const host = ["host", "agents.example:4777"] as const;

it.each([
  ["a program", []],
  ["a page of this server", [["origin", "http://agents.example:4777"]]],
  ["a page of this server behind TLS", [["origin", "https://agents.example:4777"]]],
  ["a page that the browser vouches for", [["sec-fetch-site", "same-origin"]]],
  ["an address typed by a person", [["sec-fetch-site", "none"]]],
] as const)("A request of %s is accepted", (_, headers) => {
  expect(() => refuseOtherPages({ headers: [host, ...headers] })).not.toThrow();
});

it.each([
  ["another origin, even if it may use /v1", [["origin", "https://app.example"]]],
  ["an origin whose name ends like this server", [["origin", "http://x.agents.example:4777"]]],
  ["an opaque origin", [["origin", "null"]]],
  ["another site", [["sec-fetch-site", "cross-site"]]],
  ["another port of the same site", [["sec-fetch-site", "same-site"]]],
] as const)("A request of a page of %s is refused", (_, headers) => {
  expect(() => refuseOtherPages({ headers: [host, ...headers] })).toThrow(/only pages of this/);
});
