import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/data/json.ts";
import type { ShellInvocation } from "../../../src/domain/tools/shell-invocation.ts";
import type { Shell } from "../../../src/domain/tools/shell.ts";
import { findShells } from "../../../src/tools/shells/find-shells.ts";
import { readThisMachine } from "../../../src/tools/shells/machine-info.ts";
import { decodeHostOperation } from "../../../src/wire/acp/host/host-operation.ts";
import { performShellOperation } from "../../../src/wire/acp/host/perform-shell-operation.ts";
import { readShellInvocation } from "../../../src/wire/acp/host/shell-replies.ts";
import {
  encodeGetDefaultShellRequest,
  encodeListShellsRequest,
  encodeSetDefaultShellRequest,
  encodeShellInvocationRequest,
} from "../../../src/wire/acp/host/shell-requests.ts";
import type { HostRequest } from "../../../src/wire/acp/host/host-request.ts";
import { findShellProblems } from "../../support/shell-schema.ts";

/** A home directory without startup files for a login shell. */
const home = mkdtempSync(join(tmpdir(), "spanline-home-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The shells of this machine with these environment variables. */
const here = (environment = {}) =>
  findShells(readThisMachine({ PATH: "/usr/bin:/bin", ...environment }));
const machine = await here();
const bash = machine.shells.find(({ id, isAvailable }) => id === "bash" && isAvailable);
const usable = machine.shells.filter(({ isAvailable }) => isAvailable);

/** The result of a request without a host: decoded like a host would, and performed with Spanline's own shells. */
function performed({ params }: HostRequest, known = machine): JsonObject {
  const call = decodeHostOperation(params);
  if (!call.ok) throw new Error(call.error.message);
  const done = performShellOperation(known, call.value);
  if (!done.ok) throw new Error(done.error.message);
  return done.value.result;
}

function invocation(
  shell: Shell,
  wish: { login?: boolean; interactive?: boolean },
  command: string,
) {
  const result = performed(encodeShellInvocationRequest({ shellId: shell.id, command, ...wish }));
  const answer = readShellInvocation({ ok: true, result });
  if (answer.type !== "answered") throw new Error("The invocation could not be read");
  return answer.value;
}

function outputOf({ program, args }: Pick<ShellInvocation, "program" | "args">): string {
  const env = { HOME: home, PATH: "/usr/bin:/bin", LANG: "C.UTF-8" };
  return spawnSync(program, args, { env, input: "", encoding: "utf8", timeout: 20_000 }).stdout;
}

describe.runIf(process.platform === "linux")("Shells of this machine", () => {
  it("The list contains the existing shells of /etc/shells [B-238] [B-239]", () => {
    const listed = existsSync("/etc/shells") ? readFileSync("/etc/shells", "utf8") : "";
    const paths = listed.split("\n").filter((line) => /^\/\S+\/(ba|da|z|k|fi)?sh$/.test(line));
    const ids = paths.filter((path) => existsSync(path)).map((path) => path.replace(/.*\//, ""));
    expect(usable.length).toBeGreaterThan(0);
    expect(usable.map(({ id }) => id)).toEqual(expect.arrayContaining([...new Set(ids)]));
    expect(usable.map(({ id }) => id)).not.toContain("tmux");
    expect(new Set(usable.map(({ platform }) => platform))).toEqual(new Set(["linux"]));
  });

  it("The configured shell comes first, then SHELL [B-243]", async () => {
    const configured = await here({ SPANLINE_SHELL: "sh", SHELL: "/bin/bash" });
    expect(configured.shells[0]).toMatchObject({ id: "sh", source: "configured" });
    expect(configured.defaultId).toBe("sh");
    expect((await here({ SHELL: "/bin/sh" })).shells[0]).toMatchObject({
      path: "/bin/sh",
      source: "env",
    });
  });

  const own = userInfo().shell ?? "";
  const hasOwn = existsSync(own) && !/nologin|false/.test(own);
  it.runIf(hasOwn)(
    "The user's login shell comes first if no variable names a shell [B-243]",
    () => {
      expect(machine.shells[0]).toMatchObject({ path: own, source: "login" });
    },
  );

  it("Every shell runs a command with its invocation [B-238] [B-246] [B-248] [B-249]", () => {
    for (const shell of usable) {
      for (const login of [false, true]) {
        for (const interactive of [false, true]) {
          const made = invocation(shell, { login, interactive }, "printf '%s|' ok 'a b'");
          expect(outputOf(made), `${made.program} ${made.args.join(" ")}`).toMatch(/ok\|a b\|$/);
          expect(made.args[made.commandIndex]).toBe("printf '%s|' ok 'a b'");
        }
      }
    }
  });

  it.runIf(bash !== undefined)(
    "A shell runs as a login shell or an interactive shell on request [B-248]",
    () => {
      if (bash === undefined) throw new Error("bash was not found");
      const command = "shopt -q login_shell && printf login; case $- in *i*) printf inter;; esac";
      expect(outputOf(invocation(bash, {}, command))).toBe("");
      expect(outputOf(invocation(bash, { login: true }, command))).toMatch(/login$/);
      expect(outputOf(invocation(bash, { interactive: true }, command))).toMatch(/inter$/);
      expect(outputOf(invocation(bash, { login: true, interactive: true }, command))).toMatch(
        /logininter$/,
      );
    },
  );

  it("The default shell can be changed without a host and runs commands without a shell [B-238] [B-244] [B-250]", () => {
    const { params } = encodeSetDefaultShellRequest("sh");
    const call = decodeHostOperation(params);
    const chosen = call.ok ? performShellOperation(machine, call.value) : call;
    if (!chosen.ok) throw new Error(chosen.error.message);
    const result = performed(
      encodeShellInvocationRequest({ command: "echo $0" }),
      chosen.value.knownShells,
    );
    const answer = readShellInvocation({ ok: true, result });
    expect(answer.type === "answered" && outputOf(answer.value)).toMatch(/\/sh\n$/);
  });

  it("Every request and result matches the schema [B-240] [B-252]", () => {
    const [first] = usable;
    if (first === undefined) throw new Error("This machine has no shell");
    const command = "ls";
    const requests: [HostRequest, string, string][] = [
      [encodeListShellsRequest(), "list_request", "list_answer"],
      [encodeGetDefaultShellRequest(), "list_request", "shell"],
      [encodeSetDefaultShellRequest(first.id), "choice_request", "shell"],
      [encodeShellInvocationRequest({ command }), "invocation_request", "invocation_answer"],
      [
        encodeShellInvocationRequest({ command, shell: first }),
        "invocation_request",
        "invocation_answer",
      ],
      [
        encodeShellInvocationRequest({
          command,
          shellId: first.id,
          login: true,
          interactive: true,
        }),
        "invocation_request",
        "invocation_answer",
      ],
    ];
    for (const [request, expectedRequest, answered] of requests) {
      expect(findShellProblems(expectedRequest, request.params["args"])).toEqual([]);
      expect(findShellProblems(answered, performed(request))).toEqual([]);
    }
    expect(findShellProblems("shell", { id: "zsh" })).toHaveLength(9);
  });
});

describe("File that lists the shells", () => {
  it("An unreadable file counts as absent and an endless file is read up to its limit", async () => {
    const look = readThisMachine({});
    expect(await look.readText(join(home, "missing"))).toBeUndefined();
    expect(await look.readText(home)).toBeUndefined();
    expect((await look.readText("/dev/zero"))?.length).toBe(64 * 1024);
  });
});
