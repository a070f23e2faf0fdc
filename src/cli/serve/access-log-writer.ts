import { openSync, writeSync } from "node:fs";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";

type WriteLine = (line: string) => void;

/** Where the lines of an access log go: to a file of their own, or among the notes. */
export function createAccessLog(target: true | string, note: WriteLine): WriteLine {
  return target === true ? note : createFileAppender(target, note);
}

/** As one goes: what was answered is in it, however this process ends. */
function createFileAppender(file: string, note: WriteLine): WriteLine {
  const opened = openLogFile(file);
  let hasFailed = false;
  return (line) => {
    try {
      writeSync(opened, line);
      hasFailed = false;
    } catch (error) {
      // A full disk is no reason to answer nobody, and is said once.
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
