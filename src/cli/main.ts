#!/usr/bin/env node
import { program } from "./program.ts";

process.exitCode = await program(process.argv);
