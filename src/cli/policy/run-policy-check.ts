import { resolve } from "node:path";
import {
  checkToolCall,
  explainDecision,
  type ToolCallCheck,
} from "../../bridge/policy-check/check-tool-call.ts";
import {
  loadConfiguredAgent,
  loadPolicyAgent,
  type PolicyCheckContext,
} from "../../bridge/policy-check/policy-agent.ts";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import { isObject, parseJson, type JsonObject } from "../../data/json.ts";
import type { PolicyAction } from "../../domain/policy/policy-decision.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine, PLAIN_STYLE, type Style } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { resolveUserDirectory } from "../../platform/files/state-directory.ts";
import { createTerminal } from "../../platform/terminal/terminal.ts";
import {
  resolveConfigFile,
  createTrustCheck,
  type ConfigFlags,
} from "../shared/flags/config-flags.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { formatUnknownName, suggestFix } from "../../text/unknown-name.ts";
import { createColorStyle } from "../shared/terminal/color-style.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface PolicyCheckFlags extends ConfigFlags {
  readonly agent?: string;
  readonly policy?: string;
  readonly cwd?: string;
  readonly dataDir?: string;
  readonly json?: true;
}

/** Prints the policy decision about a tool call. The exit code says the same. */
export async function runPolicyCheck(
  name: string,
  text: string,
  { io, ...flags }: PolicyCheckFlags & { readonly io: CommandIo },
): Promise<number> {
  const terminal = createTerminal(io);
  try {
    if (name.trim() === "") throw createNoNameError();
    const input = parseArguments(text);
    const notice = (line: string): void => terminal.note(`${toSingleLine(line)}\n`);
    const checked = await checkPolicy(name, input, { ...flags, io, notice });
    const style = terminal.hasColours ? createColorStyle() : PLAIN_STYLE;
    await terminal.write(
      flags.json === true ? `${formatPrettyJson(checked)}\n` : formatCheck(checked, style),
    );
    return EXIT_CODES[checked.decision.action];
  } catch (error) {
    terminal.note(`${toSingleLine(formatThrown(error))}\n`);
    return 2;
  }
}

const EXIT_CODES: { readonly [Action in PolicyAction]: number } = { allow: 0, ask: 3, deny: 4 };

async function checkPolicy(
  name: string,
  input: JsonObject,
  {
    io,
    notice,
    ...flags
  }: PolicyCheckFlags & Pick<PolicyCheckContext, "notice"> & { readonly io: CommandIo },
): Promise<ToolCallCheck> {
  const directory = resolveDataDirectory(flags.dataDir, io, notice);
  const protectedFolders = [directory, resolveUserDirectory(io.env)];
  const place = { root: resolve(io.cwd, flags.cwd ?? "."), protectedFolders, notice };
  const version = readPackageVersion();
  const configContext = { directory, clock: systemClock, environment: io.env, version };
  const agent = await loadAgent(flags, { ...place, io, tool: name, configContext });
  if (flags.policy === undefined) checkToolName(name, [...agent.tools.keys()]);
  const named = flags.cwd === undefined ? {} : { workingDirectory: resolve(io.cwd, flags.cwd) };
  return checkToolCall(agent, { name, input, ...named });
}

/** A decision about a misspelled tool would look like a decision about the intended tool. */
function checkToolName(name: string, known: readonly string[]): void {
  if (known.includes(name) || suggestFix(name, known) === undefined) return;
  const message = `${formatUnknownName("Tool", name, { names: known })} Nothing was checked`;
  throw new SpanlineError("invalid_option", message, { details: { path: "tool" } });
}

type ConfiguredAgentOptions = Parameters<typeof loadConfiguredAgent>[1];

interface PolicyCheckOptions extends Omit<ConfiguredAgentOptions, "configContext"> {
  readonly io: CommandIo;
  readonly configContext: Omit<ConfiguredAgentOptions["configContext"], "isTrusted">;
}

async function loadAgent(
  flags: PolicyCheckFlags,
  { io, configContext: around, ...place }: PolicyCheckOptions,
): ReturnType<typeof loadPolicyAgent> {
  if (flags.policy !== undefined) return loadPolicyAgent(resolve(io.cwd, flags.policy), place);
  const file = resolveConfigFile(flags, io);
  if (file !== undefined) {
    const { agent } = flags;
    return loadConfiguredAgent(file, {
      ...place,
      configContext: { ...around, isTrusted: createTrustCheck(file, flags, io) },
      ...omitUndefined({ agent }),
    });
  }
  const message =
    "No spanline.config.yaml, .yml or .json was found from here upwards. Fix: name one with --config, or a policy with --policy";
  throw new SpanlineError("invalid_option", message, { details: { path: "config" } });
}

function createNoNameError(): SpanlineError {
  const message = "The name of the tool is empty: expected a name, such as read_file";
  return new SpanlineError("invalid_option", message, { details: { path: "tool" } });
}

function parseArguments(text: string): JsonObject {
  const parsed = parseJson(text);
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  const reason = parsed.ok ? "it is not an object" : parsed.reason;
  const message = `The arguments cannot be read: ${reason}. Fix: use a JSON object, such as '{"path":"a.txt"}'`;
  throw new SpanlineError("invalid_option", message, { details: { path: "arguments" } });
}

function formatCheck({ decision, isKnown, problem, note }: ToolCallCheck, style: Style): string {
  const unknown = isKnown ? [] : ["The agent has no such tool: rules assume the worst."];
  const [first = "", ...rest] = explainDecision(decision);
  const paint = { allow: style.good, ask: style.warn, deny: style.bad }[decision.action];
  const lines = [...unknown, paint(first), ...rest];
  if (problem !== undefined) lines.push(`Its arguments would be refused: ${problem}`);
  if (note !== undefined) lines.push(note);
  return lines.map((line) => `${line}\n`).join("");
}
