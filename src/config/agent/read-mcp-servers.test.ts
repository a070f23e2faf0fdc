import { describe, expect, it } from "vitest";
import { SpanlineError } from "../../domain/errors.ts";
import { readMcpServers } from "./read-mcp-servers.ts";

function refusal(value: unknown): readonly unknown[] {
  try {
    readMcpServers(value);
  } catch (error) {
    if (error instanceof SpanlineError) return [error.code, error.details["path"], error.message];
  }
  return [];
}

describe("The settings of MCP servers", () => {
  it("MCP servers are an array, or an object by name", () => {
    const command = { name: "files", command: "npx", args: ["-y", "server"], env: { A: "1" } };
    const remote = { name: "web", url: "https://example.org/mcp", headers: { Authorization: "x" } };
    const read = [
      { type: "stdio", ...command },
      { type: "http", ...remote },
    ];
    expect(readMcpServers([command, remote])).toEqual(read);
    const { name: _, ...files } = command;
    const { name: __, ...web } = remote;
    expect(readMcpServers({ files, web })).toEqual(read);
    expect(readMcpServers(undefined)).toEqual([]);
  });

  it("All settings of an MCP server are kept", () => {
    const whole = {
      name: "My server",
      type: "sse",
      url: "http://127.0.0.1:1/sse",
      timeoutMs: 1,
      maxTimeoutMs: 2,
      connectTimeoutMs: 3,
      include: ["a*"],
      exclude: ["ab"],
      trusted: true,
      roots: ["docs", "/srv"],
    };
    expect(readMcpServers([whole])).toEqual([whole]);
    const program = {
      name: "p",
      type: "stdio",
      command: "./p",
      cwd: "sub",
      inheritEnv: ["TOKEN"],
      roots: "session",
      trusted: false,
    };
    const { trusted: _, ...rest } = program;
    expect(readMcpServers([program])).toEqual([rest]);
  });

  it.each([
    [
      "text",
      "mcpServers",
      '"text" is not a valid mcpServers: expected an array of servers, or an object of them by name',
    ],
    [{ a: 1 }, "mcpServers.a", "1 is not a valid mcpServers.a: expected an object"],
    [
      [{ name: "a" }],
      "mcpServers[0]",
      "mcpServers[0] has neither a command nor a url: expected one of them",
    ],
    [
      [{ name: "a", command: "c", url: "http://x" }],
      "mcpServers[0]",
      "mcpServers[0] has both a command and a url: expected one of them",
    ],
    [
      [{ name: "a", comand: "c" }],
      "mcpServers[0].comand",
      'Key "mcpServers[0].comand" does not exist. Fix: did you mean "command"?',
    ],
    [
      [{ name: "a", command: "c", headers: {} }],
      "mcpServers[0].headers",
      expect.stringMatching(/^Key "mcpServers\[0\]\.headers" does not exist: expected "name", /),
    ],
    [
      [{ name: "a", command: "c", type: "http" }],
      "mcpServers[0].type",
      '"http" is not a valid mcpServers[0].type: expected stdio for a server with a command',
    ],
    [
      [{ name: "a", url: "http://x", type: "web" }],
      "mcpServers[0].type",
      '"web" is not a valid mcpServers[0].type: expected http or sse for a server with a url',
    ],
    [
      [{ command: "c" }],
      "mcpServers[0].name",
      "mcpServers[0].name is missing: expected 1 to 64 characters",
    ],
    [
      [{ name: "a\n", command: "c" }],
      "mcpServers[0].name",
      '"a\\n" is not a valid mcpServers[0].name: expected 1 to 64 characters',
    ],
    [
      [{ name: "a", command: " " }],
      "mcpServers[0].command",
      '" " is not a valid mcpServers[0].command: expected a program',
    ],
    [
      [{ name: "a", command: "c", args: "x" }],
      "mcpServers[0].args",
      '"x" is not a valid mcpServers[0].args: expected an array',
    ],
    [
      [{ name: "a", command: "c", args: [1] }],
      "mcpServers[0].args[0]",
      "1 is not a valid mcpServers[0].args[0]: expected a string",
    ],
    [
      [{ name: "a", command: "c", inheritEnv: ["A=B"] }],
      "mcpServers[0].inheritEnv[0]",
      expect.stringMatching(/ is not a valid name of a variable: /),
    ],
    [
      [{ name: "a", url: "ftp://x" }],
      "mcpServers[0].url",
      '"ftp://x" is not a valid mcpServers[0].url: expected an http or https URL',
    ],
    [
      [{ name: "a", url: "http://x", headers: { "a b": "c" } }],
      "mcpServers[0].headers.a b",
      expect.stringMatching(/ is not a valid name of a header: /),
    ],
    [
      [{ name: "a", url: "http://x", headers: { "MCP-Session-Id": "c" } }],
      "mcpServers[0].headers.MCP-Session-Id",
      expect.stringMatching(/set by the protocol/),
    ],
    [
      [{ name: "a", command: "c", timeoutMs: 0 }],
      "mcpServers[0].timeoutMs",
      "0 is not a valid mcpServers[0].timeoutMs: expected a number above 0",
    ],
    [
      [{ name: "a", command: "c", timeoutMs: 2, maxTimeoutMs: 1 }],
      "mcpServers[0].maxTimeoutMs",
      expect.stringMatching(/^1 is not a valid .*: expected at least timeoutMs, 2$/),
    ],
    [
      [{ name: "a", command: "c", trusted: "yes" }],
      "mcpServers[0].trusted",
      '"yes" is not a valid mcpServers[0].trusted: expected true or false',
    ],
    [
      [{ name: "a", command: "c", roots: "." }],
      "mcpServers[0].roots",
      '"." is not a valid mcpServers[0].roots: expected "session" or an array of folders',
    ],
    [
      [{ name: "a", command: "c", roots: ["docs", "~/notes"] }],
      "mcpServers[0].roots[1]",
      '"~/notes" is not a valid mcpServers[0].roots[1]: expected the path of a folder; ~ is not expanded. Fix: write the whole path, such as "/home/me/notes"',
    ],
    [
      [{ name: "a", command: "c", roots: ["file:///etc"] }],
      "mcpServers[0].roots[0]",
      '"file:///etc" is not a valid mcpServers[0].roots[0]: expected the path of a folder, not a URL. Fix: write the whole path, such as "/home/me/notes"',
    ],
    [
      [{ name: "a", command: "c", roots: [""] }],
      "mcpServers[0].roots[0]",
      '"" is not a valid mcpServers[0].roots[0]: expected the path of a folder. Fix: write the whole path, such as "/home/me/notes"',
    ],
    [
      [
        { name: "a", command: "c" },
        { name: "a", url: "http://x" },
      ],
      "mcpServers",
      'mcpServers has two servers named "a". Fix: rename one of the servers',
    ],
    [
      [
        { name: "a b", command: "c" },
        { name: "a_b", command: "c" },
      ],
      "mcpServers",
      expect.stringMatching(/the servers "a b" and "a_b", whose tools would have the same names/),
    ],
    [
      { a: { name: "b", command: "c" } },
      "mcpServers.a.name",
      "mcpServers.a.name differs from the name of the server, a. Fix: leave it out",
    ],
  ])("The MCP servers %j are refused", (value, path, message) => {
    expect(refusal(value)).toEqual(["invalid_option", path, message]);
  });

  it("More than 32 MCP servers are refused", () => {
    const many = Array.from({ length: 33 }, (_, at) => ({ name: `s${at}`, command: "c" }));
    expect(readMcpServers(many.slice(1))).toHaveLength(32);
    expect(refusal(many)[2]).toBe("mcpServers has 33 servers: expected at most 32");
  });

  it("Error messages never contain possible secrets", () => {
    const secret = "s3cret\u0000";
    const serverLists = [
      [{ name: "a", command: "c", env: { A: secret } }],
      [{ name: "a", command: "c", env: { "A B": "s3cret" } }],
      [{ name: "a", url: "http://x", headers: { A: "s3cret\n" } }],
      [{ name: "a", url: "http://x", headers: { A: { s3cret: 1 } } }],
    ];
    for (const one of serverLists) {
      expect(refusal(one)[0]).toBe("invalid_option");
      expect(refusal(one)[2]).not.toContain("s3cret");
    }
    expect(refusal([{ name: "a", url: "http://me:s3cret@x" }])[2]).toBe(
      "mcpServers[0].url contains a password. Fix: use a header, such as Authorization",
    );
  });

  it("A name like __proto__ is data", () => {
    const inputValue: unknown = JSON.parse('{"__proto__":{"command":"c","env":{"__proto__":"x"}}}');
    expect(readMcpServers(inputValue)).toMatchObject([{ name: "__proto__" }]);
  });
});
