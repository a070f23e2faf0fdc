import { resolve } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import { emulate, type EmulateOptions } from "../../emulator/emulate-agentcore.ts";
import type { Emulator } from "../../emulator/start-emulator.ts";
import { TEST_CREDENTIALS } from "../../emulator/emulator-options.ts";
import { escapeControls } from "../../inspect/trace-style.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import { waitForSignal } from "../shared/wait-for-signal.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface EmulateFlags {
  readonly port: number;
  readonly host: string;
  readonly dataDir?: string;
  readonly brain: string;
  readonly scripts?: string;
  readonly region?: string;
  readonly signatures: "strict" | "off";
  readonly switch?: readonly string[];
  readonly commands?: true;
  readonly record?: string;
  readonly json?: true;
}

/** Runs the emulator until SIGINT or SIGTERM. Returns the exit code. */
export async function runEmulateCommand(flags: EmulateFlags, io: CommandIo): Promise<number> {
  const terminal = createTerminal(io);
  const end = waitForSignal(io);
  let emulator: Emulator;
  try {
    emulator = await emulate(readEmulateOptions(flags, io, terminal));
  } catch (error) {
    terminal.note(`${formatStartError(error, flags)}\n`);
    return error instanceof SpanlineError ? 2 : 1;
  }
  await terminal.write(flags.json === true ? formatJson(emulator) : formatText(emulator, flags));
  await end;
  const { dataDir } = flags;
  const storage =
    dataDir === undefined ? "were in memory and are gone" : `are stored in ${dataDir}`;
  terminal.note(`\nStopping. Harnesses and sessions ${storage}.\n`);
  await emulator.close();
  return 0;
}

function readEmulateOptions(
  flags: EmulateFlags,
  { env, cwd }: CommandIo,
  terminal: Terminal,
): EmulateOptions {
  const { port, host, dataDir, brain, region, signatures, commands, record, scripts } = flags;
  return {
    port,
    host,
    brain,
    signatures,
    commands: commands === true ? "run" : "refuse",
    switches: parseSwitches(flags.switch ?? []),
    environment: env,
    runtimes: [{ name: DEMO_RUNTIME }],
    onBug: (error) => terminal.note(`${escapeControls(String(error))}\n`),
    ...(dataDir !== undefined && { dataDirectory: resolve(cwd, dataDir) }),
    ...(scripts !== undefined && { scripts: resolve(cwd, scripts) }),
    ...omitUndefined({ region }),
    ...(record !== undefined && { recordings: resolve(cwd, record) }),
  };
}

/** A runtime with responses in the format of Strands for Python, in addition to the harness. */
const DEMO_RUNTIME = "demo_strands-spanline00";

/** Parses `name=value`. The emulator validates names and values. */
function parseSwitches(assignments: readonly string[]): object {
  const pairs = assignments.map((text) => {
    const at = text.indexOf("=");
    if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
    throw new SpanlineError("invalid_option", `--switch ${text} has no value: expected name=value`);
  });
  return Object.fromEntries(pairs) as object;
}

function deriveRuntimeArn({ demoArn }: Emulator): string {
  return demoArn.replace(/harness\/.*$/, `runtime/${DEMO_RUNTIME}`);
}

function formatText(
  emulator: Emulator,
  { signatures, dataDir, brain, commands }: EmulateFlags,
): string {
  const { url, demoArn, region } = emulator;
  const { accessKeyId, secretAccessKey } = TEST_CREDENTIALS;
  const storageText = dataDir === undefined ? "in memory; --data-dir stores them" : `in ${dataDir}`;
  return `AgentCore is emulated at ${url}

  harness     ${demoArn}
  runtime     ${deriveRuntimeArn(emulator)}
  brain       ${brain}, for a harness that names none
  sessions    ${storageText}
  commands    ${commands === true ? "RUN on this machine, with your rights" : "refused; --commands runs them"}
  signatures  ${signatures === "strict" ? `checked; credentials ${accessKeyId}/${secretAccessKey}` : "not checked"}

Try it:
  spanline invoke --endpoint-url ${url} --harness ${demoArn} "Hello"

With any AWS SDK:
  export AWS_ENDPOINT_URL_BEDROCK_AGENTCORE=${url} AWS_ENDPOINT_URL_BEDROCK_AGENTCORE_CONTROL=${url}
  export AWS_REGION=${region} AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY=${secretAccessKey}

Ctrl-C stops it.
`;
}

function formatJson(emulator: Emulator): string {
  const { url, port, region, account, demoArn } = emulator;
  const facts = {
    url,
    port,
    region,
    account,
    harness: demoArn,
    runtime: deriveRuntimeArn(emulator),
  };
  return `${JSON.stringify(facts)}\n`;
}

function formatStartError(error: unknown, { host, port }: EmulateFlags): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `Port ${port} on ${host} is already in use. Fix: choose another with --port; 0 picks a free port`;
  }
  return error instanceof Error ? error.message : String(error);
}
