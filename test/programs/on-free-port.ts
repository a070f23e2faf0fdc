import { Server } from "node:net";

/** Loaded before a program which listens on a fixed port: makes it listen on a free port and prints the port. */
const prototype: { listen: (...args: never[]) => Server } = Server.prototype;
const { listen } = prototype;
prototype.listen = function (this: Server, ...args: readonly unknown[]): Server {
  this.once("listening", () => process.send?.(this.address()));
  const callbacks = args.filter((one) => typeof one === "function");
  return Reflect.apply(listen, this, [Number(process.env["PORT"] ?? 0), "127.0.0.1", ...callbacks]);
};
