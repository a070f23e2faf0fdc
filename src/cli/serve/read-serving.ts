import { resolve } from "node:path";
import { openSync, writeSync } from "node:fs";
import type { ServeSettings } from "../../bridge/configured/serve-settings.ts";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import {
  resolveConfigFile,
  createTrustCheck,
  type ConfigFlags,
} from "../shared/flags/config-flags.ts";
import type { UpdatesFlags } from "../shared/flags/updates-option.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Flags for the HTTP server. They override the `serve` section of the configuration. */
export interface ServingFlags extends ConfigFlags, UpdatesFlags {
  readonly host?: string;
  readonly port?: number;
  /** A file, or true for standard error. */
  readonly accessLog?: true | string;
}

export interface ServingOptions extends UpdatesFlags {
  readonly serving?: ServeSettings;
  readonly host?: string;
  readonly port?: number;
  readonly accessLog?: (line: string) => void;
}

export async function readServing(
  flags: ServingFlags,
  io: CommandIo,
  note: (line: string) => void,
): Promise<ServingOptions> {
  const { host, port, accessLog, updates } = flags;
  const file = resolveConfigFile(flags, io);
  const serving = file === undefined ? {} : { serving: await loadServeSettings(file, flags, io) };
  return {
    ...serving,
    ...omitUndefined({ host, port, updates }),
    ...(accessLog !== undefined && {
      accessLog: createAccessLog(accessLog === true ? true : resolve(io.cwd, accessLog), note),
    }),
  };
}

async function loadServeSettings(
  file: string,
  flags: ConfigFlags,
  io: CommandIo,
): Promise<ServeSettings> {
  const { readServeSettings } = await import("../../bridge/configured/serve-settings.ts");
  return readServeSettings({
    file,
    environment: io.env,
    isTrusted: createTrustCheck(file, flags, io),
  });
}

type WriteLine = (line: string) => void;

/** Writes access log lines to a file or to standard error. */
function createAccessLog(target: true | string, note: WriteLine): WriteLine {
  return target === true ? note : createFileAppender(target, note);
}

/** Appends each line synchronously, so every response is in the log no matter how this process ends. */
function createFileAppender(file: string, note: WriteLine): WriteLine {
  const opened = openLogFile(file);
  let hasFailed = false;
  return (line) => {
    try {
      writeSync(opened, line);
      hasFailed = false;
    } catch (error) {
      // A full disk must not stop responses. The error is reported once until a write succeeds again.
      if (!hasFailed) note(`The access log cannot be written: ${formatThrown(error)}\n`);
      hasFailed = true;
    }
  };
}

function openLogFile(file: string): number {
  try {
    return openSync(file, "a", 0o600);
  } catch (error) {
    const message = `The access log cannot be opened: ${formatThrown(error)}`;
    throw new SpanlineError("invalid_option", message, { details: { path: "accessLog" } });
  }
}
