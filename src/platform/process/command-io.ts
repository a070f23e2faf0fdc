import type { Readable, Writable } from "node:stream";
import type { Environment } from "../environment.ts";

/** The process of a command as a value. A test passes its own streams, environment and working directory. */
export interface CommandIo {
  /** The program's path, then its arguments. */
  readonly argv: readonly string[];
  readonly env: Environment;
  /** Relative paths in flags are resolved against this directory. */
  readonly cwd: string;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly signals: SignalSource;
  /** Ends the process at once, including all running work. */
  readonly exit: (exitCode?: number) => void;
}

export interface InputStream extends Readable {
  readonly isTTY?: boolean;
  /** Absent for a file. */
  ref?(): unknown;
  unref?(): unknown;
  /** Absent unless the stream is a terminal. */
  setRawMode?(isRaw: boolean): unknown;
}

export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  /** Absent unless the stream is a terminal. */
  readonly columns?: number;
}

type Signal = "SIGINT" | "SIGTERM";

export interface SignalSource {
  on(signal: Signal, listener: () => void): unknown;
  off(signal: Signal, listener: () => void): unknown;
}

/** The real process. Each stream is opened when it is first used. */
export function createProcessIo(): CommandIo {
  return {
    argv: process.argv.slice(1),
    env: process.env,
    cwd: process.cwd(),
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    signals: process,
    exit: (exitCode) => process.exit(exitCode),
  };
}
