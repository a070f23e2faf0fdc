import type { JsonValue } from "../../data/json.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { ShellList } from "../../domain/tools/shell.ts";
import { type DecodeResult, accept } from "../../wire/acp/json-fields.ts";
import {
  decodeFileRead,
  decodeFileWrite,
  decodeTerminalReference,
  decodeTerminalStart,
} from "../../wire/acp/host/decode-editor-requests.ts";
import { decodeHostOperation } from "../../wire/acp/host/host-operation.ts";
import { performShellOperation } from "../../wire/acp/host/perform-shell-operation.ts";
import {
  decodeSkillFetch,
  decodeSkillMatch,
  encodeSkillList,
  encodeSkillMatches,
  encodeSkill,
} from "../../wire/acp/host/skill-messages.ts";
import type { RpcOutcome } from "../../wire/jsonrpc/rpc-message.ts";
import type { Awaitable, HostContext, HostOptions } from "./host-options.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

/** Responds to one kind of request. An exception becomes an error response. */
export type HostMethod = (
  params: JsonValue | undefined,
  context: HostContext,
) => Promise<RpcOutcome>;

/** Creates a method that decodes the parameters, performs the request and encodes the result. */
function createHostMethod<Asked, Done>(
  read: (params: JsonValue | undefined) => DecodeResult<Asked>,
  perform: (decodedParams: Asked, context: HostContext) => Awaitable<Done>,
  result: (outcome: Done) => unknown,
): HostMethod {
  return async (params, context) => {
    const decodedParams = read(params);
    if (!decodedParams.ok) return decodedParams;
    return { ok: true, result: result(await perform(decodedParams.value, context)) };
  };
}

/** The shell methods. A changed default shell stays until the host ends. */
export function createShellMethods(shells: ShellList | undefined): readonly [string, HostMethod][] {
  if (shells === undefined) return [];
  let knownShells = shells;
  const call: HostMethod = async (params) => {
    const operation = decodeHostOperation(params);
    if (!operation.ok) return operation;
    const performed = performShellOperation(knownShells, operation.value);
    if (!performed.ok) return performed;
    ({ knownShells } = performed.value);
    return { ok: true, result: performed.value.result };
  };
  return [
    ["host/call", call],
    ["host_call", call],
  ];
}

export function createSkillMethods({
  skills,
  skillMatch,
}: Pick<HostOptions, "skills" | "skillMatch">): readonly [string, HostMethod][] {
  const methods: [string, HostMethod][] = [];
  if (skills !== undefined) {
    const list = createHostMethod(accept, (_, context) => skills.list(context), encodeSkillList);
    const fetch = createHostMethod(
      decodeSkillFetch,
      async ({ id }, context) => {
        const skill = await skills.fetch(id, context);
        if (skill !== undefined) return skill;
        throw new SpanlineError("not_found", formatUnknownName("Skill", id));
      },
      encodeSkill,
    );
    methods.push(["skills/list", list], ["skills/fetch", fetch]);
  }
  if (skillMatch !== undefined) {
    methods.push([
      "skill/match",
      createHostMethod(decodeSkillMatch, skillMatch, encodeSkillMatches),
    ]);
  }
  return methods;
}

/** The file and terminal methods, as far as the host offers them. */
export function createEditorMethods({
  files,
  terminals,
}: Pick<HostOptions, "files" | "terminals">): readonly [string, HostMethod][] {
  const methods: [string, HostMethod][] = [];
  const { read, write } = files ?? {};
  if (read !== undefined) {
    const text = (content: string): unknown => ({ content });
    methods.push(["fs/read_text_file", createHostMethod(decodeFileRead, read, text)]);
  }
  if (write !== undefined) {
    methods.push([
      "fs/write_text_file",
      createHostMethod(decodeFileWrite, write, createEmptyResult),
    ]);
  }
  if (terminals !== undefined) {
    const { create, output, waitForExit, kill, release } = terminals;
    const named = (terminalId: string): unknown => ({ terminalId });
    methods.push(
      ["terminal/create", createHostMethod(decodeTerminalStart, create, named)],
      ["terminal/output", createHostMethod(decodeTerminalReference, output, identity)],
      ["terminal/wait_for_exit", createHostMethod(decodeTerminalReference, waitForExit, identity)],
      ["terminal/kill", createHostMethod(decodeTerminalReference, kill, createEmptyResult)],
      ["terminal/release", createHostMethod(decodeTerminalReference, release, createEmptyResult)],
    );
  }
  return methods;
}

function identity(value: unknown): unknown {
  return value;
}

function createEmptyResult(): unknown {
  return {};
}
