import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecretRedactor } from "./secret-redactor.ts";

const SECRET = "sk-4f9a8b7c6d5e4f3a2b1c";

describe("Secret redactor", () => {
  const scrub = createSecretRedactor([SECRET, 'quo"ted\\secret', "abcde"]);

  it("A secret is removed from all strings and names of a value", () => {
    const deep = JSON.parse(`${'{"a":['.repeat(99)}"${SECRET}"${"]}".repeat(99)}`);
    expect(scrub({ [SECRET]: [`a ${SECRET} b ${SECRET}`, 1, null, true] })).toEqual({
      "[redacted]": ["a [redacted] b [redacted]", 1, null, true],
    });
    expect(JSON.stringify(scrub(deep))).not.toContain("4f9a");
    expect(Object.keys(scrub(JSON.parse('{"__proto__":1}')))).toEqual(["__proto__"]);
  });

  it("A secret is found in JSON and URL encoding, and line by line", () => {
    expect(scrub(JSON.stringify({ key: 'quo"ted\\secret' }))).toBe('{"key":"[redacted]"}');
    expect(scrub(`?key=${encodeURIComponent('quo"ted\\secret')}`)).toBe("?key=[redacted]");
    const key =
      "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nAAAAB3NzaC1yc2EAAAA=\n-----END KEY-----";
    const redactedText = createSecretRedactor([key])("2: AAAAB3NzaC1yc2EAAAA=");
    expect(redactedText).toBe("2: [redacted]");
  });

  it.each(["", "…", "...", " …\n"])("The rest of a secret cut by %j is removed", (mark) => {
    expect(scrub(`Sent sk-4f9a8${mark}`)).toBe(`Sent [redacted]${mark}`);
    expect(scrub(`5e4f3a2b1c was sent`)).toBe("[redacted] was sent");
    expect(scrub(`Sent sk-4f9a${mark}`)).toBe(`Sent sk-4f9a${mark}`);
  });

  it.each([[[SECRET]], [[]]])("Values nested too deep are left out: %j", (secrets) => {
    const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    const jsonText = JSON.stringify(createSecretRedactor(secrets)(deep));
    expect(jsonText).toBe(
      `${"[".repeat(200)}"[nested deeper than 200 levels, and left out]"${"]".repeat(200)}`,
    );
  });

  it("Secrets too short to be distinguished from other words are not removed", () => {
    expect(scrub("abcde, abcdefgh")).toBe("abcde, abcdefgh");
  });

  it("Text cut anywhere never ends with eight or more characters of a secret", () => {
    const around = fc.string({ maxLength: 40 });
    fc.assert(
      fc.property(around, around, fc.nat(80), (before, behind, at) => {
        const redactedText = scrub(`${before}${SECRET}${behind}`.slice(0, at));
        expect(redactedText).not.toContain(SECRET.slice(0, 8));
      }),
    );
  });

  it("A long secret is removed even if a text repeats its beginning many times", () => {
    const long = Array.from({ length: 5000 }, (_, at) => `part ${at}`).join(",");
    const most = createSecretRedactor([long]);
    expect(most(long.slice(0, 8).repeat(10_000))).toMatch(/part 0,p\[redacted\]$/);
    expect(most(`Sent ${long.slice(0, 20_000)}`)).toBe("Sent [redacted]");
  });
});
