import { createDataPlane } from "../../src/emulator/data/emulated-data-plane.ts";
import { startEmulator } from "../../src/emulator/start-emulator.ts";

const [, , dataDirectory = ""] = process.argv;

/** An emulator, until it is killed. Its one line is its address and the ARN of its demo harness. */
const { url, demoArn } = await startEmulator({ dataDirectory, dataPlane: createDataPlane() });
process.stdout.write(`${url} ${demoArn}\n`);
