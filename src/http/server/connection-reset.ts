/** Thrown by a handler or a body to have its connection reset instead of answered or ended. */
export class ConnectionReset extends Error {}
