import {
  BedrockAgentCoreClient,
  InvokeAgentRuntimeCommand,
} from "@aws-sdk/client-bedrock-agentcore";
import {
  BedrockAgentCoreControlClient,
  CreateHarnessCommand,
} from "@aws-sdk/client-bedrock-agentcore-control";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDataPlane } from "../../src/emulator/data/emulated-data-plane.ts";
import { startEmulator } from "../../src/emulator/start-emulator.ts";
import { invoke, textIn } from "./start-data-plane.ts";

async function emulator(dataPlane: ReturnType<typeof createDataPlane>) {
  const started = await startEmulator({ dataPlane, signatures: "strict" });
  onTestFinished(() => started.close());
  const settings = {
    region: "us-east-1",
    endpoint: started.url,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  };
  const data = new BedrockAgentCoreClient(settings);
  const control = new BedrockAgentCoreControlClient(settings);
  return { ...started, data, control };
}

describe("Both planes of one emulator [AC-86]", () => {
  it("A harness runs the brain that its environment names", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spanline-scripts-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "hello.yaml");
    writeFileSync(file, "turns: [{answer: From the script.}]");
    const { control, data } = await emulator(createDataPlane({ scripts: folder }));
    const { harness } = await control.send(
      new CreateHarnessCommand({
        harnessName: "scripted",
        executionRoleArn: "arn:aws:iam::123456789012:role/demo",
        environmentVariables: { SPANLINE_BRAIN: `script:${file}` },
      }),
    );
    const events = await invoke(data, { harnessArn: harness?.arn });
    expect(textIn(events)).toBe("From the script.");
  });

  it("A harness can use only scripts inside the folder of scripts", async () => {
    const outside = mkdtempSync(join(tmpdir(), "spanline-outside-"));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    const folder = join(outside, "scripts");
    mkdirSync(folder);
    const secret = join(outside, "secret.yaml");
    writeFileSync(secret, "password: [");
    symlinkSync(secret, join(folder, "link.yaml"));
    const answerWith = async (dataPlane: ReturnType<typeof createDataPlane>, file: string) => {
      const { control, data } = await emulator(dataPlane);
      const { harness } = await control.send(
        new CreateHarnessCommand({
          harnessName: "curious",
          executionRoleArn: "arn:aws:iam::123456789012:role/demo",
          environmentVariables: { SPANLINE_BRAIN: `script:${file}` },
        }),
      );
      return invoke(data, { harnessArn: harness?.arn }).then(
        textIn,
        (error: Error) => error.message,
      );
    };
    const others = [secret, join(folder, "../secret.yaml"), join(folder, "link.yaml"), folder];
    for (const file of others) {
      expect(await answerWith(createDataPlane({ scripts: folder }), file)).toBe(
        `The script ${file} is not allowed: expected a file in ${folder}`,
      );
    }
    expect(await answerWith(createDataPlane(), secret)).toBe(
      `The script ${secret} is not allowed: the emulator was started without a folder of scripts. Fix: start the emulator with scripts: FOLDER`,
    );
    const own = join(outside, "own.yaml");
    writeFileSync(own, "turns: [{answer: Hello.}]");
    expect(await answerWith(createDataPlane({ brain: `script:${own}` }), own)).toBe("Hello.");
  });

  it("An invalid brain is reported to the client", async () => {
    const { control, data } = await emulator(createDataPlane());
    const { harness } = await control.send(
      new CreateHarnessCommand({
        harnessName: "mistaken",
        executionRoleArn: "arn:aws:iam::123456789012:role/demo",
        environmentVariables: { SPANLINE_BRAIN: "scirpt:x" },
      }),
    );
    await expect(invoke(data, { harnessArn: harness?.arn })).rejects.toMatchObject({
      name: "RuntimeClientError",
      message: 'Brain "scirpt:x" does not exist: expected "demo", "script:FILE" or "model:NAME"',
    });
  });

  it("The demo harness can be invoked from the start", async () => {
    const { data, demoArn } = await emulator(createDataPlane());
    expect(textIn(await invoke(data, { harnessArn: demoArn, text: "Hello" }))).toMatch(/^Hello!/);
  });

  it("Configured agent runtimes can be invoked", async () => {
    const dataPlane = createDataPlane({ runtimes: [{ name: "weather", style: "json" }] });
    const { data } = await emulator(dataPlane);
    const { response } = await data.send(
      new InvokeAgentRuntimeCommand({
        agentRuntimeArn: "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/weather",
        payload: new TextEncoder().encode('{"prompt": "What is 2 + 2?"}'),
      }),
    );
    expect(JSON.parse((await response?.transformToString()) ?? "")).toEqual({
      result: { role: "assistant", content: [{ text: "That is 4." }] },
    });
  });

  it("Invalid settings of the data plane are refused", () => {
    expect(() => createDataPlane({ switches: { paddding: "on" } as object })).toThrow(
      'Key "switches.paddding" does not exist. Fix: did you mean "padding"?',
    );
    expect(() => createDataPlane({ runtimes: [{ name: "a b" }] })).toThrow(
      '"a b" is not a valid runtimes[0].name',
    );
    const style = "pyhton" as "python";
    expect(() => createDataPlane({ runtimes: [{ name: "a", style }] })).toThrow(
      '"pyhton" is not a valid runtimes[0].style',
    );
  });
});
