import {
  readSigningKeys,
  rotateSigningKey,
  type KeyInfo,
} from "../../bridge/audit/signing-keys.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { formatThrown } from "../../domain/errors.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { resolveUserDirectory } from "../../platform/files/state-directory.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface KeysFlags {
  readonly json?: true;
}

export function runKeysList({ json }: KeysFlags, io: CommandIo): Promise<number> {
  return runWithTerminal(io, async (terminal) => {
    const { keys } = await readSigningKeys(resolveUserDirectory(io.env));
    if (json === true) await terminal.write(`${formatPrettyJson({ keys })}\n`);
    else if (keys.length > 0) await terminal.write(keys.map(formatKey).join(""));
    else terminal.note("There are no keys yet; `spanline up` creates the first key.\n");
  });
}

export function runKeysRotate({ json }: KeysFlags, io: CommandIo): Promise<number> {
  return runWithTerminal(io, async (terminal) => {
    const key = await rotateSigningKey(resolveUserDirectory(io.env), systemClock.now());
    await terminal.write(json === true ? `${formatPrettyJson(key)}\n` : formatKey(key));
    if (json !== true) terminal.note("A running bridge uses the new key after its next start.\n");
  });
}

function formatKey({ id, createdAt }: KeyInfo): string {
  return `${id}  ${formatIsoTime(createdAt)}\n`;
}

async function runWithTerminal(
  io: CommandIo,
  command: (terminal: Terminal) => Promise<void>,
): Promise<number> {
  const terminal = createTerminal(io);
  try {
    await command(terminal);
    return 0;
  } catch (error) {
    terminal.note(`${toSingleLine(formatThrown(error))}\n`);
    return 1;
  }
}
