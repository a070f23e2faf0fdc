import { readSigningKeys, rotateSigningKey, type KeyFacts } from "../bridge/signing-keys.ts";
import { isoTime } from "../domain/iso-time.ts";
import { thrownMessage } from "../domain/errors.ts";
import { prettyJson } from "../inspect/pretty-json.ts";
import { oneLine } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import { userDirectory } from "../platform/state-directory.ts";
import { processTerminal, type Terminal } from "../platform/terminal.ts";

export interface KeysFlags {
  readonly json?: true;
}

export function listKeysCommand({ json }: KeysFlags): Promise<number> {
  return told(async (terminal) => {
    const { keys } = await readSigningKeys(userDirectory(process.env));
    if (json === true) await terminal.write(`${prettyJson({ keys })}\n`);
    else if (keys.length > 0) await terminal.write(keys.map(lineOf).join(""));
    else terminal.note("There are no keys yet; `spanline up` makes the first one.\n");
  });
}

export function rotateKeyCommand({ json }: KeysFlags): Promise<number> {
  return told(async (terminal) => {
    const key = await rotateSigningKey(userDirectory(process.env), systemClock.now());
    await terminal.write(json === true ? `${prettyJson(key)}\n` : lineOf(key));
    if (json !== true)
      terminal.note("A bridge that runs signs with it when it is started again.\n");
  });
}

function lineOf({ id, createdAt }: KeyFacts): string {
  return `${id}  ${isoTime(createdAt)}\n`;
}

async function told(command: (terminal: Terminal) => Promise<void>): Promise<number> {
  const terminal = processTerminal();
  try {
    await command(terminal);
    return 0;
  } catch (error) {
    terminal.note(`${oneLine(thrownMessage(error))}\n`);
    return 1;
  }
}
