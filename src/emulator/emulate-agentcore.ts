import { createDataPlane, type DataPlaneSettings } from "./data/emulated-data-plane.ts";
import { startEmulator, type Emulator } from "./start-emulator.ts";
import type { EmulatorOptions } from "./emulator-options.ts";

export type EmulateOptions = Omit<EmulatorOptions, "dataPlane"> & DataPlaneSettings;

/** Starts AgentCore on this machine, with both planes. Resolves when the emulator is listening. */
export function emulate(options: EmulateOptions = {}): Promise<Emulator> {
  return startEmulator({ ...options, dataPlane: createDataPlane(options) });
}
