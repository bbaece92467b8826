// Bundles src/ into the two files that the Python package holds; --check compares instead of writing.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const kit = join(here, "..", "multilang_cli", "reports", "html", "kit");
const licences = (await readFile(join(here, "LICENSES.txt"), "utf8")).trim();
const banner = `/*! The page kit of mlcheck, Apache-2.0, built from page_kit/.\n\n${licences}\n*/`;

const { outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: [{ in: "src/main.tsx", out: "page" }],
  outdir: kit,
  write: false,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022", "chrome111", "firefox115", "safari16.4"],
  charset: "ascii",
  legalComments: "none",
  banner: { js: banner },
  logLevel: "warning",
});

const differing = [];
for (const { path, contents } of outputFiles) {
  const name = relative(here, path);
  console.log(`${name}: ${contents.length} bytes`);
  if (!process.argv.includes("--check")) await writeFile(path, contents);
  else if (!(await readFile(path).catch(() => Buffer.alloc(0))).equals(contents)) differing.push(name);
}
if (differing.length) {
  console.error(`not what page_kit/src makes: ${differing.join(", ")}. Run: npm ci && npm run build`);
  process.exitCode = 1;
}
