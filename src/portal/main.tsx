import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { startServices } from "./browser/browser-services.ts";
import { App } from "./shell/app.tsx";

const root = document.getElementById("app");
if (root === null) throw new Error("The page has no element with the id app");
createRoot(root).render(
  <StrictMode>
    <App services={startServices()} />
  </StrictMode>,
);
