import type { OpenLiveSocket } from "../live/live-api-client.ts";

/** Opens `/api/live` of the page's own server. The browser sends the cookie of the sign-in. */
export const openBrowserSocket: OpenLiveSocket = ({ onMessage, onClose }) => {
  const url = new URL("/api/live", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url);
  socket.addEventListener("message", ({ data }) => onMessage(data));
  // A `close` event follows every error.
  socket.addEventListener("close", onClose);
  return {
    send(text) {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close: () => socket.close(),
  };
};
