import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../data/json.ts";
import { maskCredentials } from "./mask-credentials.ts";
import { runs } from "../../../../../test/support/test-depth.ts";

const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN";
const PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow1\n-----END RSA PRIVATE KEY-----";

describe("Credentials in tool arguments", () => {
  it.each<[what: string, args: JsonObject, shown: JsonObject]>([
    ["a password by its name", { password: "a" }, { password: "[masked credential 1]" }],
    [
      "a header by its name",
      { headers: { "X-Api-Key": "abc", accept: "text" } },
      { headers: { "X-Api-Key": "[masked credential 1]", accept: "text" } },
    ],
    [
      "a header as a pair",
      { headers: [{ name: "Authorization", value: "Bearer x" }] },
      { headers: [{ name: "Authorization", value: "[masked credential 1]" }] },
    ],
    ["a list under its name", { tokens: 3, token: ["a", "b"] }, { tokens: 3, token: MASKS(1, 2) }],
    ["a JWT in a string", { text: `use ${JWT}.` }, { text: "use [masked credential 1]." }],
    ["a private key in a string", { text: `<${PEM}>` }, { text: "<[masked credential 1]>" }],
    [
      "a login in a URL",
      { url: "https://me:hunter22@example.com/a" },
      { url: "https://me:[masked credential 1]@example.com/a" },
    ],
    [
      "an assignment in a command",
      { command: "GITHUB_TOKEN=0123456789abcdef git push" },
      { command: "GITHUB_TOKEN=[masked credential 1] git push" },
    ],
    [
      "the same credential everywhere",
      { password: "hunter22", text: "hunter22 and hunter22" },
      {
        password: "[masked credential 1]",
        text: "[masked credential 1] and [masked credential 1]",
      },
    ],
  ])("The credential is masked and can be restored: %s [B-095]", (_, args, expected) => {
    const masked = maskCredentials(args);
    expect(masked.args).toEqual(expected);
    expect(masked.unmask(masked.args)).toEqual(args);
  });

  it.each<[what: string, args: JsonObject]>([
    ["a key that names something", { key: "Enter", sortKey: "name", primary_key: "id" }],
    [
      "code about credentials",
      { text: "const token: string = readToken(); password = undefined;" },
    ],
    ["a number", { maxTokens: 100, password: 7 }],
    ["an empty string", { password: "" }],
  ])("The arguments are not masked: %s", (_, args) => {
    expect(maskCredentials(args).args).toEqual(args);
  });

  it("A mask never equals a text in the arguments", () => {
    const args = { password: "secret-1", text: "[masked credential 1]" };
    const { args: maskedArgs, unmask } = maskCredentials(args);
    expect(maskedArgs).toEqual({
      password: "[masked credential' 1]",
      text: "[masked credential 1]",
    });
    expect(unmask(maskedArgs)).toEqual(args);
  });

  it("Unmasking restores any arguments", () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(
        JWT,
        PEM,
        "masked credential",
        "credential",
        "[masked credential 1]",
        "Bearer a1",
      ),
    );
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom("password", "token", "name", "value", "__proto__"),
    );
    const { args } = fc.letrec<{ value: JsonObject[string]; args: JsonObject }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        text,
        fc.integer(),
        fc.array(tie("value"), { maxLength: 3 }),
        tie("args"),
      ),
      args: fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(args, (input) => {
        const { args: maskedArgs, unmask } = maskCredentials(input);
        expect(unmask(maskedArgs)).toEqual(input);
      }),
      { numRuns: runs(300) },
    );
  });
});

function MASKS(...numbers: readonly number[]): string[] {
  return numbers.map((number) => `[masked credential ${number}]`);
}
