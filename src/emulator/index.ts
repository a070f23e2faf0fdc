// The public entry `spanline/emulator`: AgentCore on this machine, for tests and demos. Every export is public API.

export type { KnownCredentials } from "../aws/check-signature.ts";
export type {
  BrainResponse,
  Brain,
  BrainRequest,
  ReadyResponse,
  RefusedResponse,
  InvocationSettings,
  StepsResponse,
  ToolSetting,
} from "./brains/brain.ts";
export type {
  Content,
  Message,
  ResultPart,
  ToolResult,
  ToolUse,
} from "./brains/session-message.ts";
export type { Step } from "./brains/step.ts";
export type { Delays } from "./control/delays.ts";
export type { InjectedOutcome } from "./control/injected-outcomes.ts";
export type { RuntimeStyle } from "./data/data-plane.ts";
export type { RuntimeSetting } from "./data/emulated-data-plane.ts";
export { emulate, type EmulateOptions } from "./emulate-agentcore.ts";
export type { Emulator } from "./start-emulator.ts";
export { TEST_CREDENTIALS } from "./emulator-options.ts";
export { ServiceError } from "./service/service-types.ts";
export type { Faults } from "./faults.ts";
export type { Switches } from "./switches.ts";
