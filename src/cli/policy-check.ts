import { resolve } from "node:path";
import { checkCall, explain, type CheckedCall } from "../bridge/check-call.ts";
import { configuredPolicy, policyAgent, type PolicyPlace } from "../bridge/policy-agent.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { isObject, parseJson, type JsonObject } from "../domain/json.ts";
import type { PolicyAction } from "../domain/policy-decision.ts";
import { prettyJson } from "../inspect/pretty-json.ts";
import { oneLine, PLAIN, type Style } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import { packageVersion } from "../platform/package-version.ts";
import { userDirectory } from "../platform/state-directory.ts";
import { processTerminal } from "../platform/terminal.ts";
import { configFrom, trustIn, type ConfigFlags } from "./agents-from.ts";
import { dataDirectory } from "./data-directory.ts";
import { coloured } from "./style.ts";

export interface PolicyCheckFlags extends ConfigFlags {
  readonly agent?: string;
  readonly policy?: string;
  readonly cwd?: string;
  readonly dataDir?: string;
  readonly json?: true;
}

/** Says what would become of a call; the exit code says it too. */
export async function policyCheckCommand(
  name: string,
  text: string,
  flags: PolicyCheckFlags,
): Promise<number> {
  const terminal = processTerminal();
  try {
    if (name.trim() === "") throw noName();
    const input = argumentsIn(text);
    const notice = (line: string): void => terminal.note(`${oneLine(line)}\n`);
    const checked = await check(name, input, { ...flags, notice });
    const style = terminal.colours ? coloured() : PLAIN;
    await terminal.write(flags.json === true ? `${prettyJson(checked)}\n` : shown(checked, style));
    return EXIT_CODES[checked.decision.action];
  } catch (error) {
    terminal.note(`${oneLine(thrownMessage(error))}\n`);
    return 2;
  }
}

const EXIT_CODES: { readonly [Action in PolicyAction]: number } = { allow: 0, ask: 3, deny: 4 };

async function check(
  name: string,
  input: JsonObject,
  { notice, ...flags }: PolicyCheckFlags & Pick<PolicyPlace, "notice">,
): Promise<CheckedCall> {
  const directory = dataDirectory(flags.dataDir, notice);
  const protectedFolders = [directory, userDirectory(process.env)];
  const place = { root: resolve(flags.cwd ?? "."), protectedFolders, notice };
  const version = packageVersion();
  const around = { directory, clock: systemClock, environment: process.env, version };
  const agent = await judgedBy(flags, { ...place, tool: name, around });
  const named = flags.cwd === undefined ? {} : { workingDirectory: resolve(flags.cwd) };
  return checkCall(agent, { name, input, ...named });
}

type ConfiguredPlace = Parameters<typeof configuredPolicy>[1];

interface JudgedPlace extends Omit<ConfiguredPlace, "around"> {
  readonly around: Omit<ConfiguredPlace["around"], "isTrusted">;
}

async function judgedBy(
  flags: PolicyCheckFlags,
  { around, ...place }: JudgedPlace,
): ReturnType<typeof policyAgent> {
  if (flags.policy !== undefined) return policyAgent(resolve(flags.policy), place);
  const file = configFrom(flags);
  if (file !== undefined) {
    const { agent } = flags;
    return configuredPolicy(file, {
      ...place,
      around: { ...around, isTrusted: trustIn(file, flags) },
      ...(agent !== undefined && { agent }),
    });
  }
  const message =
    "There is no spanline.config.yaml, .yml or .json from here upwards; name one with --config, or a policy with --policy";
  throw new SpanlineError("invalid_option", message, { details: { path: "config" } });
}

function noName(): SpanlineError {
  const message = "The name of the tool is empty: expected a name, such as read_file";
  return new SpanlineError("invalid_option", message, { details: { path: "tool" } });
}

function argumentsIn(text: string): JsonObject {
  const parsed = parseJson(text);
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  const reason = parsed.ok ? "it is no object" : parsed.reason;
  const message = `The arguments cannot be read: ${reason}. Give a JSON object, such as '{"path":"a.txt"}'`;
  throw new SpanlineError("invalid_option", message, { details: { path: "arguments" } });
}

function shown({ decision, isKnown, problem, note }: CheckedCall, style: Style): string {
  const [first = "", ...rest] = explain(decision);
  const paint = { allow: style.good, ask: style.warn, deny: style.bad }[decision.action];
  const lines = [paint(first), ...rest];
  if (!isKnown) lines.push("The agent has no such tool: rules think the worst of it.");
  if (problem !== undefined) lines.push(`Its arguments would be refused: ${problem}`);
  if (note !== undefined) lines.push(note);
  return lines.map((line) => `${line}\n`).join("");
}
