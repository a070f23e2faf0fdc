import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatSortedJson } from "../../../../test/support/sorted-json.ts";
import { findShellProblems } from "../../../../test/support/shell-schema.ts";
import type { JsonValue } from "../../../data/json.ts";
import { SHELL_SOURCES, type ShellList, type Shell } from "../../../domain/tools/shell.ts";
import {
  readDefaultShell,
  readShellInvocation,
  readShellList,
  encodeShellInvocation,
  encodeShellList,
} from "./shell-replies.ts";
import { encodeShell } from "./shell-fields.ts";
import {
  encodeGetDefaultShellRequest,
  encodeListShellsRequest,
  encodeSetDefaultShellRequest,
  encodeShellInvocationRequest,
} from "./shell-requests.ts";

/** The examples from the bridge documentation. */
const ZSH_FIELDS = {
  id: "zsh",
  label: "zsh",
  path: "/bin/zsh",
  platform: "darwin",
  available: true,
  supports_login: true,
  supports_interactive: true,
  default_args: ["-c"],
  login_args: ["-l", "-c"],
  source: "env",
};
const LIST = { shells: [ZSH_FIELDS], default_shell_id: "zsh" };
const INVOCATION = {
  program: "/bin/zsh",
  args: ["-c", "printf ok"],
  command_arg_index: 1,
  shell: { id: "zsh" },
};

const zsh: Shell = {
  id: "zsh",
  label: "zsh",
  path: "/bin/zsh",
  platform: "darwin",
  isAvailable: true,
  supportsLogin: true,
  supportsInteractive: true,
  defaultArgs: ["-c"],
  loginArgs: ["-l", "-c"],
  source: "env",
};
const known: ShellList = { shells: [zsh], defaultId: "zsh" };

const answered = <Value>(value: Value) => ({ type: "answered", value });

function listProblem(result: JsonValue): string {
  const answer = readShellList({ ok: true, result });
  return answer.type === "failed" ? answer.failure.message : answer.type;
}

describe("Shell requests to a host", () => {
  it("The requests match the documented examples [B-239] [B-243] [B-244]", () => {
    expect(encodeListShellsRequest()).toEqual({
      method: "host/call",
      params: { name: "process.list_shells", args: {} },
    });
    expect(encodeGetDefaultShellRequest().params).toEqual({
      name: "process.get_default_shell",
      args: {},
    });
    expect(encodeSetDefaultShellRequest("zsh").params).toEqual({
      name: "process.set_default_shell",
      args: { shell_id: "zsh" },
    });
    const line = { shellId: "zsh", command: "printf ok" };
    expect(formatSortedJson(encodeShellInvocationRequest(line).params)).toBe(
      formatSortedJson({
        name: "process.shell_invocation",
        args: { shell_id: "zsh", command: "printf ok", login: false, interactive: false },
      }),
    );
  });

  it("An invocation names a whole shell, an id or the default shell [B-245] [B-250]", () => {
    const line = { command: "ls", login: true, interactive: true };
    expect(
      encodeShellInvocationRequest({ ...line, shell: zsh, shellId: "x" }).params["args"],
    ).toEqual({
      shell: ZSH_FIELDS,
      ...line,
    });
    expect(encodeShellInvocationRequest(line).params["args"]).toEqual(line);
  });
});

describe("Shell replies of a host", () => {
  it("A list is read and written key for key [B-239] [B-240]", () => {
    expect(readShellList({ ok: true, result: LIST })).toEqual(answered(known));
    expect(formatSortedJson(encodeShellList(known))).toBe(formatSortedJson(LIST));
  });

  it("A wrapped reply is read", () => {
    const wrapped = (result: JsonValue) => ({ ok: true, result: { result } }) as const;
    expect(readShellList(wrapped(LIST))).toEqual(answered(known));
    expect(readDefaultShell("getDefault", wrapped(ZSH_FIELDS), known)).toEqual(answered(zsh));
    expect(readShellInvocation(wrapped(INVOCATION))).toMatchObject({ type: "answered" });
  });

  it("The default is a whole shell or the id of a listed shell [B-243] [B-244]", () => {
    const answer = (result: JsonValue) =>
      readDefaultShell("setDefault", { ok: true, result }, known);
    expect(answer(ZSH_FIELDS)).toEqual(answered(zsh));
    expect(answer({ id: "zsh" })).toEqual(answered(zsh));
    expect(answer({ id: "fish" })).toMatchObject({
      type: "failed",
      failure: {
        code: "unexpected_answer",
        message:
          "The host's reply to process.set_default_shell cannot be read: a shell has no path",
      },
    });
  });

  it("A missing or partial shell of an invocation is completed [B-249]", () => {
    expect(readShellInvocation({ ok: true, result: INVOCATION })).toEqual(
      answered({
        program: "/bin/zsh",
        args: ["-c", "printf ok"],
        commandIndex: 1,
        shell: { ...zsh, platform: "unknown", source: "host" },
      }),
    );
    const { shell: _, command_arg_index: __, ...short } = INVOCATION;
    expect(readShellInvocation({ ok: true, result: short })).toMatchObject({
      value: { commandIndex: 1, shell: { id: "zsh", path: "/bin/zsh" } },
    });
  });

  it("An invocation is written with its whole shell [B-240] [B-249]", () => {
    const invocation = { program: "/bin/zsh", args: ["-c", "printf ok"], commandIndex: 1 };
    expect(formatSortedJson(encodeShellInvocation({ ...invocation, shell: zsh }))).toBe(
      formatSortedJson({ ...INVOCATION, shell: ZSH_FIELDS }),
    );
  });

  it.each<[string, JsonValue, string]>([
    ["no program", { args: ["x"] }, "it has no program"],
    ["no arguments", { program: "/bin/sh", args: [] }, '"args" is not'],
    ["an argument that is not a string", { program: "/bin/sh", args: [1] }, '"args" is not'],
    ["an index out of range", { ...INVOCATION, command_arg_index: 2 }, '"command_arg_index"'],
    [
      "an index that is not an integer",
      { ...INVOCATION, command_arg_index: 0.5 },
      '"command_arg_index"',
    ],
    ["a shell that is a string", { ...INVOCATION, shell: "zsh" }, "a shell is not an object"],
  ])("A shell invocation with %s is rejected", (_, result, problem) => {
    expect(readShellInvocation({ ok: true, result })).toMatchObject({
      type: "failed",
      failure: { message: expect.stringContaining(problem) },
    });
  });

  it("Missing fields follow from the path and unknown fields are ignored", () => {
    const shells = [
      { path: "C:\\Windows\\System32\\cmd.exe", source: "settings", icon: "x" },
      { id: "mine", path: "/opt/mine/zsh", default_args: ["--quiet", "-c"], available: false },
    ];
    expect(readShellList({ ok: true, result: { shells } })).toEqual(
      answered({
        defaultId: "cmd",
        shells: [
          {
            id: "cmd",
            label: "cmd",
            path: "C:\\Windows\\System32\\cmd.exe",
            platform: "unknown",
            isAvailable: true,
            supportsLogin: false,
            supportsInteractive: false,
            defaultArgs: ["/C"],
            loginArgs: ["/C"],
            source: "host",
          },
          {
            ...zsh,
            id: "mine",
            label: "mine",
            path: "/opt/mine/zsh",
            platform: "unknown",
            isAvailable: false,
            defaultArgs: ["--quiet", "-c"],
            source: "host",
          },
        ],
      }),
    );
  });

  it("The default is an available shell or null", () => {
    const defaultOf = (result: JsonValue) => {
      const answer = readShellList({ ok: true, result });
      return answer.type === "answered" ? answer.value.defaultId : answer.type;
    };
    const fish = { ...ZSH_FIELDS, id: "fish", available: false };
    expect(defaultOf({ shells: [fish, ZSH_FIELDS], default_shell_id: "fish" })).toBe("zsh");
    expect(defaultOf({ shells: [ZSH_FIELDS], default_shell_id: null })).toBe("zsh");
    expect(defaultOf({ shells: [fish], default_shell_id: "fish" })).toBeNull();
    expect(defaultOf({ shells: [], default_shell_id: null })).toBeNull();
  });

  it.each<[string, JsonValue, string]>([
    ["no list", { shells: {} }, "it has no list of shells"],
    ["a shell without a path", { shells: [{ id: "zsh" }] }, "a shell has no path"],
    ["a shell without an id", { shells: [{ path: "/bin/" }] }, "a shell has no id"],
    ["a path over the limit", { shells: [{ path: "/".repeat(5000) }] }, "a shell has no path"],
    ["a string for a shell", { shells: ["zsh"] }, "a shell is not an object"],
    ["an id twice", { shells: [ZSH_FIELDS, ZSH_FIELDS] }, 'two shells with the id "zsh"'],
    [
      "too many shells",
      { shells: Array.from({ length: 65 }, () => ZSH_FIELDS) },
      "it has 65 shells, more than 64",
    ],
  ])("A shell list with %s is rejected", (_, result, problem) => {
    expect(listProblem(result)).toContain(problem);
  });

  it("A host without shell operations is unsupported, so Spanline's own shells are used [B-238] [B-244]", () => {
    const error = { code: -32601, message: "Method not found" };
    for (const answer of [{ ok: false, error } as const, { ok: true, result: null } as const]) {
      expect(readShellList(answer)).toEqual({ type: "unsupported" });
      expect(readDefaultShell("getDefault", answer, known)).toEqual({ type: "unsupported" });
      expect(readDefaultShell("setDefault", answer, known)).toEqual({ type: "unsupported" });
      expect(readShellInvocation(answer)).toEqual({ type: "unsupported" });
    }
  });

  it("An error of the host is a failure", () => {
    const error = { code: -32000, message: "settings are locked" };
    expect(readShellList({ ok: false, error })).toEqual({
      type: "failed",
      failure: {
        code: "host_failed",
        message: "process.list_shells failed on the host: settings are locked",
        details: { operation: "process.list_shells", hostCode: -32000 },
      },
    });
  });

  it("Any shell is read as it was written and matches the schema [B-240] [B-252]", () => {
    const word = fc.string({ minLength: 1 });
    const shell: fc.Arbitrary<Shell> = fc.record({
      id: word,
      label: word,
      path: word,
      platform: word,
      isAvailable: fc.boolean(),
      supportsLogin: fc.boolean(),
      supportsInteractive: fc.boolean(),
      defaultArgs: fc.array(fc.string()),
      loginArgs: fc.array(fc.string()),
      source: fc.constantFrom(...SHELL_SOURCES),
    });
    fc.assert(
      fc.property(shell, (input) => {
        const result = encodeShell(input);
        expect(findShellProblems("shell", result)).toEqual([]);
        expect(readDefaultShell("getDefault", { ok: true, result }, known)).toEqual(
          answered(input),
        );
      }),
    );
  });

  it("Any JSON value is read without an exception", () => {
    const near = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom(null, "zsh", "/bin/zsh", 0, -1, 1e9, true),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom("result", "shells", "program", "args", "shell", "path", "id"),
          tie("value"),
        ),
        fc.dictionary(fc.constantFrom("command_arg_index", "default_shell_id"), tie("value")),
      ),
    })).value;
    fc.assert(
      fc.property(near, (input) => {
        const result: JsonValue = JSON.parse(JSON.stringify(input));
        const types = [
          readShellList({ ok: true, result }),
          readDefaultShell("getDefault", { ok: true, result }, known),
          readShellInvocation({ ok: true, result }),
        ].map(({ type }) => type);
        expect(["answered", "failed", "unsupported"]).toEqual(expect.arrayContaining(types));
      }),
    );
  });
});
