import {
  BedrockAgentCoreControlClient,
  type CreateHarnessCommandInput,
} from "@aws-sdk/client-bedrock-agentcore-control";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { startEmulator, type Emulator } from "../../src/emulator/start-emulator.ts";
import { TEST_CREDENTIALS, type EmulatorOptions } from "../../src/emulator/emulator-options.ts";
import { systemClock, type Clock } from "../../src/platform/clock.ts";

export const ROLE = "arn:aws:iam::123456789012:role/agent";
/** Has the minimum length of a client token. */
export const TOKEN = "0123456789abcdef0123456789abcdef0123";

export interface Started {
  readonly emulator: Emulator;
  readonly client: BedrockAgentCoreControlClient;
}

/** Starts an emulator on a real socket, with the unmodified AWS SDK client for its control plane. */
export async function started(options: EmulatorOptions = {}): Promise<Started> {
  const emulator = await startEmulator(options);
  const client = clientOf(emulator.url);
  onTestFinished(async () => {
    client.destroy();
    await emulator.close();
  });
  return { emulator, client };
}

export function clientOf(
  endpoint: string,
  credentials: object = TEST_CREDENTIALS,
): BedrockAgentCoreControlClient {
  return new BedrockAgentCoreControlClient({
    region: "us-east-1",
    endpoint,
    credentials: credentials as typeof TEST_CREDENTIALS,
    maxAttempts: 1,
  });
}

export function harnessNamed(
  harnessName: string,
  more: Partial<CreateHarnessCommandInput> = {},
): CreateHarnessCommandInput {
  return { harnessName, executionRoleArn: ROLE, ...more };
}

/** A clock which advances only through the emulator's clock. */
export function stillClock(now = Date.UTC(2026, 0, 2, 3, 4, 5, 678)): Clock {
  return { ...systemClock, now: () => now };
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spanline-emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
