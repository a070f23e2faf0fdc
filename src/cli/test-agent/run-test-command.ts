import { SpanlineError } from "../../domain/errors.ts";
import { AbortError } from "../../domain/provider/provider-error.ts";
import { toSingleLine, PLAIN_STYLE, escapeControls } from "../../inspect/trace-style.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import { resolveConfigFile } from "../shared/flags/config-flags.ts";
import { formatErrorMessage } from "../shared/error-message.ts";
import type { ConnectionFlags } from "../shared/flags/connection-flags.ts";
import { findFlag } from "../shared/flags/find-flag.ts";
import { INTERRUPTED, watchInterruption } from "../shared/interruption.ts";
import type { LimitFlags } from "../shared/flags/limit-flags.ts";
import { resolveRunAgent, type RunAgentFlags } from "../run/resolve-run-agent.ts";
import { createColorStyle } from "../shared/terminal/color-style.ts";
import { runTestStages, type TestStep } from "./test-stages.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface TestAgentFlags extends ConnectionFlags, LimitFlags {
  readonly config?: string;
  readonly dataDir?: string;
  readonly region?: string;
  readonly store?: string;
  readonly json?: true;
}

/** Tests an agent with two turns. Returns the exit code. */
export async function runTestCommand(
  agentName: string | undefined,
  flags: TestAgentFlags,
  io: CommandIo,
): Promise<number> {
  const terminal = createTerminal(io);
  const { signal, release } = watchInterruption(io, () => terminal.note("\nStopping.\n"));
  const output = flags.json === true ? createJsonOutput(terminal) : createTextOutput(terminal);
  try {
    const { agent, close } = await resolveRunAgent(await resolveAgentFlags(agentName, flags, io), {
      io,
      terminal,
      signal,
    });
    const name = agentName ?? agent.spec.name;
    try {
      for await (const step of runTestStages({ provider: agent.provider, signal }))
        await output.add(step);
    } finally {
      await close();
    }
    return await output.end(name);
  } catch (error) {
    if (error instanceof AbortError || signal.aborted) return INTERRUPTED;
    const messageOptions = {
      nextStep: suggestNextStep,
      findFlag: (path: string) => findFlag(path, flags),
    };
    await output.add({
      type: "failed",
      ...splitMessage(formatErrorMessage(error, messageOptions)),
    });
    await output.end(agentName ?? "the agent");
    return error instanceof SpanlineError && isUsageError(error) ? 2 : 1;
  } finally {
    release();
  }
}

/** Splits a message at its advice, which is the last line or the end of the sentence. */
function splitMessage(text: string): { readonly message: string; readonly nextStep: string } {
  const at = text.search(/(?:\n|\. )Fix: /);
  if (at < 0) return { message: text, nextStep: "Fix: correct the problem named in the message." };
  return { message: text.slice(0, at), nextStep: text.slice(text.indexOf("Fix: ", at)) };
}

/** `demo` means the built-in agent unless the configuration has an agent with this name. */
async function resolveAgentFlags(
  agentName: string | undefined,
  flags: TestAgentFlags,
  io: CommandIo,
): Promise<RunAgentFlags> {
  if (agentName === undefined) return flags;
  if (/^arn:[^:]*:bedrock-agentcore:.*:runtime\//.test(agentName))
    return { ...flags, runtime: agentName };
  if (agentName.startsWith("arn:")) return { ...flags, harness: agentName };
  const isBuiltIn = agentName === "demo" && !(await isConfigured(agentName, flags, io));
  return isBuiltIn ? { ...flags, isBuiltInDemo: true } : { ...flags, agent: agentName };
}

async function isConfigured(
  agentName: string,
  flags: TestAgentFlags,
  io: CommandIo,
): Promise<boolean> {
  const file = resolveConfigFile(flags, io);
  if (file === undefined) return false;
  // With `--config`, an unknown name is an error that lists the configured agents.
  if (flags.config !== undefined) return true;
  const { readConfigFile } = await import("../../config/read-config-file.ts");
  const { parseConfigText } = await import("../../config/read-document.ts");
  const { readConfig } = await import("../../config/read-config.ts");
  const { agents } = readConfig(parseConfigText(await readConfigFile(file), file));
  return agents.some(({ name }) => name === agentName);
}

interface TestOutput {
  add(step: TestStep): Promise<void>;
  /** Returns the exit code. */
  end(agent: string): Promise<number>;
}

function createTextOutput(terminal: Terminal): TestOutput {
  const style = terminal.hasColours ? createColorStyle() : PLAIN_STYLE;
  let number = 0;
  let failure: Extract<TestStep, { type: "failed" }> | undefined;
  return {
    async add(step) {
      if (step.type === "failed") return void (failure = step);
      if (step.type === "stage") {
        number += 1;
        await terminal.write(`${style.strong(`${number}. ${step.title}`)}\n`);
        return;
      }
      const { name, value } = step;
      const text =
        typeof value === "string" ? escapeControls(value) : escapeControls(JSON.stringify(value));
      await terminal.write(`   ${style.dim(`${name}:`)} ${text.replaceAll("\n", "\n   ")}\n`);
    },
    async end(agent) {
      if (failure === undefined) {
        await terminal.write(
          `${style.good(`Successfully tested agent '${toSingleLine(agent)}'.`)}\n`,
        );
        return 0;
      }
      const { message, nextStep: next } = failure;
      terminal.note(
        `${style.bad(`Testing agent '${toSingleLine(agent)}' failed.`)} ${toSingleLine(message)}\n${toSingleLine(next)}\n`,
      );
      return 1;
    },
  };
}

function createJsonOutput(terminal: Terminal): TestOutput {
  const stages: { readonly title: string; readonly [name: string]: unknown }[] = [];
  let failure: { readonly message: string; readonly nextStep: string } | undefined;
  return {
    async add(step) {
      if (step.type === "stage") stages.push({ title: step.title });
      else if (step.type === "failed") failure = { message: step.message, nextStep: step.nextStep };
      else stages.push({ ...(stages.pop() ?? { title: "" }), [step.name]: step.value });
    },
    async end(agent) {
      const ok = failure === undefined;
      const text = JSON.stringify({ agent, ok, stages, ...omitUndefined({ failure }) });
      await terminal.write(`${text}\n`);
      return ok ? 0 : 1;
    },
  };
}

function isUsageError({ code, details }: SpanlineError): boolean {
  // An untrusted configuration.
  return USAGE_ERROR_CODES.has(code) || details["path"] === "config";
}

/** Errors caused by the command line or a file: exit code 2. */
const USAGE_ERROR_CODES: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_message",
  "invalid_tool",
  "no_credentials",
  "unreadable_input",
]);

function suggestNextStep({ code }: SpanlineError): string | undefined {
  return NEXT_STEPS.get(code);
}

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  [
    "connect_failed",
    "Fix: check the address; `spanline emulate` starts an emulator on this machine.",
  ],
  ["access_denied", "Fix: check the credentials, the region of the ARN and this machine's clock."],
  ["not_found", "Fix: check the ARN; `spanline harness list` lists the harnesses."],
  ["throttled", "Fix: wait a moment and try again."],
  ["invalid_option", "Fix: see `spanline test --help`."],
  ["no_credentials", "Fix: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."],
]);
