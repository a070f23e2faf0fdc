import type { CommandIo } from "../../platform/process/command-io.ts";

/** Runs the work of a command, which returns the exit code of the program. */
export type ExecuteCommand = (run: (io: CommandIo) => Promise<number>) => Promise<void>;
