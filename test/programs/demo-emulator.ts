import { createDataPlane } from "../../src/emulator/data/emulated-data-plane.ts";
import { startEmulator } from "../../src/emulator/start-emulator.ts";

const [, , dataDirectory = ""] = process.argv;

/** Runs an emulator until it is killed. Prints its address and the ARN of its demo harness on a single line. */
const { url, demoArn } = await startEmulator({ dataDirectory, dataPlane: createDataPlane() });
process.stdout.write(`${url} ${demoArn}\n`);
