import { describe, expect, it } from "vitest";
import { formatSortedJson } from "../../../../test/support/sorted-json.ts";
import type { JsonObject } from "../../../data/json.ts";
import { createShell } from "../../../domain/tools/create-shell.ts";
import type { ShellList } from "../../../domain/tools/shell.ts";
import { performShellOperation } from "./perform-shell-operation.ts";
import { encodeShell } from "./shell-fields.ts";

const place = { platform: "darwin", source: "env", isAvailable: true } as const;
const zsh = createShell({ ...place, path: "/bin/zsh" });
const bash = createShell({ ...place, path: "/bin/bash", source: "etc_shells" });
const fish = createShell({ ...place, path: "/opt/fish", isAvailable: false });
const knownShells: ShellList = { shells: [zsh, bash, fish], defaultId: "zsh" };
const none: ShellList = { shells: [fish], defaultId: null };

function perform(name: string, args: JsonObject, shells = knownShells) {
  const performed = performShellOperation(shells, { name, args });
  return performed.ok ? performed.value : performed.error;
}

function invoke(args: JsonObject) {
  return perform("process.shell_invocation", args);
}

describe("Shell operations", () => {
  it("The list operation returns all shells and the default [B-238] [B-239]", () => {
    expect(
      formatSortedJson(perform("process.list_shells", {}, { shells: [zsh], defaultId: "zsh" })),
    ).toBe(
      formatSortedJson({
        result: {
          shells: [
            {
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
            },
          ],
          default_shell_id: "zsh",
        },
        knownShells: { shells: [zsh], defaultId: "zsh" },
      }),
    );
  });

  it("The default shell of a session can be read and changed [B-243] [B-244]", () => {
    expect(perform("process.get_default_shell", {})).toEqual({
      result: encodeShell(zsh),
      knownShells,
    });
    const after = { ...knownShells, defaultId: "bash" };
    expect(perform("process.set_default_shell", { shell_id: "bash" })).toEqual({
      result: encodeShell(bash),
      knownShells: after,
    });
    expect(perform("process.get_default_shell", {}, after)).toMatchObject({
      result: { id: "bash" },
    });
    expect(perform("process.shell_invocation", { command: "ls" }, after)).toMatchObject({
      result: { program: "/bin/bash" },
    });
    expect(perform("process.get_default_shell", {})).toMatchObject({ result: { id: "zsh" } });
  });

  it("The documented invocation is returned with its whole shell [B-246] [B-249]", () => {
    const shellRequest = {
      shell_id: "zsh",
      command: "printf ok",
      login: false,
      interactive: false,
    };
    expect(formatSortedJson(invoke(shellRequest))).toBe(
      formatSortedJson({
        result: {
          program: "/bin/zsh",
          args: ["-c", "printf ok"],
          command_arg_index: 1,
          shell: encodeShell(zsh),
        },
        knownShells,
      }),
    );
  });

  it.each<[string, JsonObject, string]>([
    ["its id [B-246]", { shell_id: "bash" }, "/bin/bash"],
    ["itself [B-247]", { shell: { ...encodeShell(bash), path: "/my/bash" } }, "/my/bash"],
    [
      "itself, which takes precedence over an id",
      { shell: encodeShell(bash), shell_id: "zsh" },
      "/bin/bash",
    ],
    ["its path alone [B-247]", { shell: { path: "/my/sh" } }, "/my/sh"],
    ["an object with its id [B-247]", { shell: { id: "bash" } }, "/bin/bash"],
    ["nothing, which means the default [B-250]", {}, "/bin/zsh"],
    ["null [B-250]", { shell: null, shell_id: null }, "/bin/zsh"],
  ])("A shell is selected by %s", (_, choice, program) => {
    expect(invoke({ ...choice, command: "ls" })).toMatchObject({
      result: { program, args: ["-c", "ls"], command_arg_index: 1, shell: { path: program } },
    });
  });

  it("A shell in the request is used with its own arguments [B-245]", () => {
    const shell = { ...encodeShell(bash), login_args: ["--login", "-c"] };
    expect(invoke({ shell, command: "ls", login: true })).toMatchObject({
      result: { program: "/bin/bash", args: ["--login", "-c", "ls"], command_arg_index: 2, shell },
    });
  });

  it.each<[JsonObject, readonly string[]]>([
    [{}, ["-c", "ls"]],
    [{ login: "yes", interactive: 1 }, ["-c", "ls"]],
    [{ login: true }, ["-l", "-c", "ls"]],
    [{ interactive: true }, ["-i", "-c", "ls"]],
    [{ login: true, interactive: true }, ["-i", "-l", "-c", "ls"]],
  ])("An invocation with %o has the arguments %j [B-248]", (flags, args) => {
    expect(invoke({ command: "ls", ...flags })).toMatchObject({
      result: { args, command_arg_index: args.length - 1 },
    });
  });

  it.each<[string, JsonObject, string]>([
    ["process.shell_invocation", {}, '"command" is missing'],
    [
      "process.shell_invocation",
      { command: "ls", shell_id: "ksh" },
      '"ksh" is not an available shell: expected zsh, bash',
    ],
    [
      "process.shell_invocation",
      { command: "ls", shell_id: "fish" },
      '"fish" is not an available shell',
    ],
    ["process.shell_invocation", { command: "ls", shell_id: 1 }, '"shell_id" is not a string'],
    ["process.shell_invocation", { command: "ls", shell: "zsh" }, "a shell is not an object"],
    ["process.shell_invocation", { command: "ls", shell: {} }, "a shell has no path"],
    ["process.set_default_shell", {}, '"shell_id" is missing'],
    ["process.set_default_shell", { shell_id: "fish" }, '"fish" is not an available shell'],
  ])("%s with %o is rejected: %s", (name, args, problem) => {
    expect(perform(name, args)).toMatchObject({
      code: -32602,
      message: expect.stringContaining(problem),
    });
  });

  it("A machine without shells and an unknown operation are rejected", () => {
    const message = "No shell was found on this machine";
    for (const name of ["process.get_default_shell", "process.shell_invocation"]) {
      expect(perform(name, { command: "ls" }, none)).toEqual({ code: -32603, message });
    }
    expect(perform("process.set_default_shell", { shell_id: "fish" }, none)).toEqual({
      code: -32603,
      message,
    });
    expect(perform("process.exec", {})).toMatchObject({ code: -32601 });
  });
});
