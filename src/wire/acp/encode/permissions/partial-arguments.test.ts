import { describe, expect, it } from "vitest";
import { maskUnreadableArguments, readSafeStart } from "./partial-arguments.ts";

const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl";
const KEY_BLOCK =
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEow IBAAKCAQEA7\nq1w2e3\n-----END RSA PRIVATE KEY-----";

/** The arguments, and a part of each credential. The part must never be sent. */
const CASES: readonly (readonly [form: string, args: string, credential: string])[] = [
  ["a password", JSON.stringify({ n: 1, password: "hunter2secret" }), "hun"],
  ["a passphrase of several words", JSON.stringify({ passphrase: "correct horse" }), "cor"],
  ["a name with an escape", '{"pass\\u0077ord":"hunter2secret"}', "hun"],
  ["a name that occurs twice", '{"password":"hunter2secret","password":1}', "hun"],
  ["a list of tokens", JSON.stringify({ tokens: "n", authToken: ["hunter2secret"] }), "hun"],
  ["a header", JSON.stringify({ h: [{ name: "Authorization", value: "hunter2" }] }), "hun"],
  ["a value before its name", '{"h":[{"value":"hunter2","name":"Cookie"}],"z":"a b"}', "hun"],
  [
    "a key in a command",
    JSON.stringify({ cmd: "export K=sk-live_0123456789abcdef01 && ls" }),
    "sk-l",
  ],
  [
    "a key after a line feed",
    JSON.stringify({ text: "a\nsk-live_0123456789abcdef01\nb c" }),
    "sk-l",
  ],
  ["a JWT", JSON.stringify({ text: `take ${JWT} and continue` }), "eyJh"],
  ["a bearer token", JSON.stringify({ cmd: "curl -H 'X: Bearer abc123def456ghi' url" }), "abc1"],
  [
    "a URL with a password",
    JSON.stringify({ url: "git clone https://me:hunter2x@host/a b" }),
    "hun",
  ],
  ["a private key", JSON.stringify({ file: `a b ${KEY_BLOCK} c d` }), "MIIE"],
  ["an assignment", JSON.stringify({ env: "API_TOKEN = abcdef123456789 x y" }), "abcd"],
];

function listStarts(args: string): string[] {
  return Array.from(args, (_, index) => readSafeStart(args.slice(0, index + 1)));
}

describe("readSafeStart", () => {
  it.each(CASES)(
    "Streamed arguments never contain a part of %s, wherever a delta ends [B-027]",
    (_, args, credential) => {
      const starts = listStarts(args);
      expect(starts.filter((start) => start.includes(credential))).toEqual([]);
      expect(starts.filter((start) => !args.startsWith(start))).toEqual([]);
      // The text before the credential is sent.
      expect(starts.at(-1)?.length).toBeGreaterThan(1);
    },
  );

  it("Arguments without a credential are sent up to the last whole word [B-027]", () => {
    const args = JSON.stringify({
      path: "a b",
      list: [{ name: "color", value: "red" }, { value: 1 }],
      sortKey: "x",
      "max tokens": 3,
    });
    expect(readSafeStart(args)).toBe(args);
    expect(readSafeStart(` ${args}`)).toBe(` ${args}`);
    expect(readSafeStart('{"path":"one two\\nthr')).toBe('{"path":"one two\\n');
    expect(readSafeStart('{"path":"one \\\\n')).toBe('{"path":"one ');
    expect(readSafeStart('{"a":tru')).toBe('{"a":tru');
  });

  it("Text that is not JSON is not sent [B-027]", () => {
    expect(readSafeStart("password=hunter2secret")).toBe("");
    expect(readSafeStart("{password: 'hunter2secret'")).toBe("{");
    expect(readSafeStart('["hunter2secret"]')).toBe("");
  });
});

describe("maskUnreadableArguments", () => {
  it("Unreadable arguments are sent only if no part looks like a credential [B-027]", () => {
    expect(maskUnreadableArguments('{"path": oops')).toBe('{"path": oops');
    for (const text of ['{"password": hunter2', "{pwd:'x'}", `{"a": ${JWT}`, "API_KEY=x"]) {
      expect(maskUnreadableArguments(text)).toBe(
        `[${text.length} characters that are not valid arguments and may contain a credential]`,
      );
    }
  });
});
