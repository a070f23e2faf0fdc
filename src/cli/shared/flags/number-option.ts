import { InvalidArgumentError } from "commander";

/** Parses an option as an integer greater than 0. */
export function parsePositive(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError("Expected an integer greater than 0.");
}

/** Parses an option as a port. 0 selects a free port. */
export function parsePort(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0 && number < 65_536) return number;
  throw new InvalidArgumentError("Expected an integer from 0 to 65535.");
}
