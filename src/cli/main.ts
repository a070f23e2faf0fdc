#!/usr/bin/env node
import { createProcessIo } from "../platform/process/command-io.ts";
import { runCommandLine } from "./command-line.ts";

process.exitCode = await runCommandLine(createProcessIo());
