// Bundles the page into one file, ../page/index.html: script and style inside, nothing loaded from anywhere.
// `node build.mjs FILE` writes it elsewhere, so that a test can compare.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "../page/index.html");

const script = await build({
  entryPoints: [join(here, "src/main.ts")],
  absWorkingDir: here,
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
});
const style = await build({
  entryPoints: [join(here, "src/style.css")],
  absWorkingDir: here,
  bundle: true,
  minify: true,
  write: false,
  charset: "utf8",
});
const licence = readFileSync(join(here, "node_modules/three/LICENSE"), "utf8").trim();
const text = readFileSync(join(here, "src/index.html"), "utf8");

// A script ends at the first "</script", wherever it stands; replacements are functions so that "$&" stays itself.
const inline = (output) => output.outputFiles[0].text.replaceAll("</script", "<\\/script").trim();
const page = text
  .replace("__LICENCE__", () => licence)
  .replace("__STYLE__", () => inline(style))
  .replace("__SCRIPT__", () => inline(script));
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, page);
console.log(`${target}: ${(page.length / 1024).toFixed(0)} KiB`);
