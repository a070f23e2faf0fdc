import { SpanlineError } from "../domain/errors.ts";
import { AbortError } from "../domain/provider-error.ts";
import { oneLine, PLAIN, printable } from "../inspect/style.ts";
import { processTerminal, type Terminal } from "../platform/terminal.ts";
import { configFrom } from "./agents-from.ts";
import { complaint } from "./complaint.ts";
import type { ConnectionFlags } from "./connection.ts";
import { flagFor } from "./flag-for.ts";
import { INTERRUPTED, interruption } from "./interruption.ts";
import type { LimitFlags } from "./limits-from.ts";
import { runAgentFrom, type RunAgentFlags } from "./run-agent.ts";
import { coloured } from "./style.ts";
import { agentStages, type TestStep } from "./test-agent-stages.ts";

export interface TestAgentFlags extends ConnectionFlags, LimitFlags {
  readonly config?: string;
  readonly dataDir?: string;
  readonly region?: string;
  readonly store?: string;
  readonly json?: true;
}

/** Tries an agent out; returns the exit code. */
export async function testAgentCommand(
  named: string | undefined,
  flags: TestAgentFlags,
): Promise<number> {
  const terminal = processTerminal();
  const { signal, release } = interruption(() => terminal.note("\nStopping.\n"));
  const shown = flags.json === true ? forPrograms(terminal) : forPeople(terminal);
  try {
    const { agent, close } = await runAgentFrom(agentFlags(named, flags), { terminal, signal });
    const name = named ?? agent.facts.name;
    try {
      for await (const step of agentStages({ provider: agent.provider, signal }))
        await shown.add(step);
    } finally {
      await close();
    }
    return await shown.end(name);
  } catch (error) {
    if (error instanceof AbortError || signal.aborted) return INTERRUPTED;
    const words = { nextStep, flagFor: (path: string) => flagFor(path, flags) };
    const [message = "", next = "The message says what is wrong."] = complaint(error, words).split(
      "\n",
    );
    await shown.add({ type: "failed", message, nextStep: next });
    await shown.end(named ?? "the agent");
    return error instanceof SpanlineError && UNUSABLE.has(error.code) ? 2 : 1;
  } finally {
    release();
  }
}

/** The demo agent needs no folder where nobody has a configuration. */
function agentFlags(named: string | undefined, flags: TestAgentFlags): RunAgentFlags {
  if (named === undefined) return flags;
  if (/^arn:[^:]*:bedrock-agentcore:.*:runtime\//.test(named)) return { ...flags, runtime: named };
  if (named.startsWith("arn:")) return { ...flags, harness: named };
  const isDemo = named === "demo" && configFrom(flags) === undefined;
  return isDemo ? flags : { ...flags, agent: named };
}

interface Shown {
  add(step: TestStep): Promise<void>;
  /** Returns the exit code. */
  end(agent: string): Promise<number>;
}

function forPeople(terminal: Terminal): Shown {
  const style = terminal.colours ? coloured() : PLAIN;
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
      const text = typeof value === "string" ? printable(value) : printable(JSON.stringify(value));
      await terminal.write(`   ${style.dim(`${name}:`)} ${text.replaceAll("\n", "\n   ")}\n`);
    },
    async end(agent) {
      if (failure === undefined) {
        await terminal.write(`${style.good(`Successfully tested agent '${oneLine(agent)}'.`)}\n`);
        return 0;
      }
      const { message, nextStep: next } = failure;
      terminal.note(
        `${style.bad(`Testing agent '${oneLine(agent)}' failed.`)} ${oneLine(message)}\n${oneLine(next)}\n`,
      );
      return 1;
    },
  };
}

function forPrograms(terminal: Terminal): Shown {
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
      const text = JSON.stringify({ agent, ok, stages, ...(failure !== undefined && { failure }) });
      await terminal.write(`${text}\n`);
      return ok ? 0 : 1;
    },
  };
}

/** What the command line or a file is to blame for. */
const UNUSABLE: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_message",
  "invalid_tool",
  "no_credentials",
  "unreadable_input",
]);

function nextStep({ code }: SpanlineError): string | undefined {
  return NEXT_STEPS.get(code);
}

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  ["connect_failed", "Check the address; `spanline emulate` starts an emulator on this machine."],
  ["access_denied", "Check the credentials, the region of the ARN and this machine's clock."],
  ["not_found", "Check the ARN; `spanline harness list` shows what there is."],
  ["throttled", "Wait a little and try again."],
  ["invalid_option", "`spanline test --help` shows what there is."],
  ["no_credentials", "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."],
]);
