// Sends a bundle from the reader's disk to the API in parts, so that it never lies in the page server's memory.
// The key of an upload is the bundle's hash: after a cut, handing in again sends only what is missing.

const STEP = 8 << 20;

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  const find = (name) => parentElement.querySelector(`[data-part=${name}]`);
  const token = find("token"), file = find("file"), send = find("send"), said = find("said"), bar = find("bar");
  token.value = token.value || sessionStorage.getItem("armillary-token") || "";

  const tell = (text, wrong = false) => {
    said.textContent = text;
    said.dataset.wrong = wrong;
  };
  const call = async (path, options = {}) => {
    const headers = { Authorization: `Bearer ${token.value.trim()}`, ...(options.headers || {}) };
    const answer = await fetch(`${data.api}${path}`, { ...options, headers });
    const body = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(refusal(body, answer.status));
    return body;
  };
  const guarded = (work) => async () => {
    if (!token.value.trim()) return tell("Give your team's token first; the people who run this board give it out.", true);
    sessionStorage.setItem("armillary-token", token.value.trim());
    for (const button of parentElement.querySelectorAll("button")) button.disabled = true;
    try {
      await work();
    } catch (error) {
      tell(error.message, true);
    } finally {
      for (const button of parentElement.querySelectorAll("button")) button.disabled = false;
    }
  };

  // Another bundle begins anew: what was said of the one before is gone, and it is checked here before
  // anything is sent.
  file.onchange = async () => {
    bar.value = 0;
    tell("");
    send.disabled = false;
    if (!file.files[0]) return;
    try {
      const manifest = await checked(file.files[0], data);
      const count = (manifest.files || []).length;
      const name = (manifest.model || {}).name || "a model without a name";
      tell(`Good as far as a browser sees: ${name}, ${count} files for ${manifest.suite} ${manifest.suite_version}, subset ${manifest.subset || "full"}.`);
    } catch (error) {
      send.disabled = true;
      tell(error.message, true);
    }
  };
  const back = find("withdraw");
  back.hidden = !data.submission;
  back.textContent = `Take back ${data.submission}`;

  send.onclick = guarded(async () => {
    const bundle = file.files[0];
    if (!bundle) return tell("Choose a bundle first.", true);
    const manifest = await checked(bundle, data);
    const sha256 = await digest(bundle, (share) => progress(bar, share / 2, tell, "Reading"));
    const body = JSON.stringify({ manifest, size: bundle.size, sha256 });
    const headers = { "Content-Type": "application/json", "Idempotency-Key": `page-${sha256}` };
    const { upload, submission } = await call("/v1/submissions", { method: "POST", headers, body });
    if (submission) return setTriggerValue("received", submission);
    for (const [done, part] of upload.parts.entries()) {
      if (!part.received) await sendPart(call, bundle, part);
      progress(bar, 0.5 + (done + 1) / upload.parts.length / 2, tell, "Sending");
    }
    tell("Checking the bundle.");
    const path = `/v1/submissions/uploads/${upload.id}/finish`;
    let finished = await call(path, { method: "POST" });
    while (!finished.submission) {
      await new Promise((go) => setTimeout(go, 1500));
      finished = await call(path, { method: "POST" });
    }
    tell(`Received as ${finished.submission}.${finished.duplicate ? " It was here already." : ""}`);
    setTriggerValue("received", finished.submission);
  });

  find("quota").onclick = guarded(async () => {
    const me = await call("/v1/teams/me");
    const left = Object.entries(me.quotas).map(([suite, one]) => `${suite}: ${one.left}`);
    tell(`Team ${me.team}. Scored submissions left: ${left.join(", ")}.`);
  });

  find("withdraw").onclick = guarded(async () => {
    const id = data.submission;
    if (!id) return tell("Choose a submission under Status first.", true);
    if (!confirm(`Take ${id} back for good?`)) return;
    const act = data.published ? "withdraw" : "cancel";
    await call(`/v1/submissions/${encodeURIComponent(id)}/${act}`, { method: "POST" });
    tell(`${id} was taken back.`);
    setTriggerValue("withdrawn", id);
  });
}

function progress(bar, share, tell, word) {
  bar.value = share;
  tell(`${word}: ${Math.round(100 * share)} %`);
}

function refusal(body, status) {
  const problems = (body.error && body.error.problems) || [];
  const lines = problems.slice(0, 8).map((one) => `${one.code} ${one.where}: ${one.message} ${one.hint || ""}`);
  return lines.join("\n") || `The server answered ${status}. Try again in a minute.`;
}

async function sendPart(call, bundle, part) {
  const body = bundle.slice(part.offset, part.offset + part.size);
  if (part.link) {
    const hash = new Sha256();
    hash.add(new Uint8Array(await body.arrayBuffer()));
    const link = await call(`${part.link}?sha256=${hash.hex()}`);
    const straight = await fetch(link.url, { method: "PUT", headers: link.headers, body }).catch(() => null);
    if (straight && straight.ok) return;
  }
  const headers = { "Content-Type": "application/octet-stream" };
  await call(part.path, { method: "PUT", headers, body });
}

// What a browser can know of a bundle before it sends a byte: its size, its manifest against this board's
// suites, and its list of files against what is in the zip. Every problem at once.
async function checked(bundle, data) {
  if (bundle.size > data.most) throw new Error(`The bundle has ${bundle.size} bytes; this board takes ${data.most}.`);
  const { manifest, names } = await contentsOf(bundle);
  const suite = data.suites[manifest.suite], problems = [];
  if (!suite) problems.push(`There is no suite "${manifest.suite}" here. There are: ${Object.keys(data.suites).join(", ")}.`);
  else {
    if (suite.version !== manifest.suite_version)
      problems.push(`It is for version ${manifest.suite_version} of ${manifest.suite}; this board has ${suite.version}. `
        + "`armillary new` writes the current one.");
    const subset = manifest.subset || "full";
    if (!suite.subsets.includes(subset)) problems.push(`${manifest.suite} has no subset "${subset}". There are: ${suite.subsets.join(", ")}.`);
  }
  const listed = new Set((manifest.files || []).map((entry) => entry.path));
  const missing = [...listed].filter((path) => !names.has(path));
  const unlisted = [...names].filter((path) => !listed.has(path) && path !== "manifest.json" && !path.endsWith("/"));
  if (missing.length) problems.push(`${missing.length} listed files are not in the zip, first: ${missing[0]}.`);
  if (unlisted.length) problems.push(`${unlisted.length} files are in the zip and not in the manifest, first: ${unlisted[0]}.`);
  if (problems.length) throw new Error([...problems, "Nothing was sent. `armillary check` tells more."].join("\n"));
  return manifest;
}

// The manifest lies anywhere in the zip: its place stands in the directory at the end.
async function contentsOf(bundle) {
  const bytes = async (from, to) => new DataView(await bundle.slice(from, to).arrayBuffer());
  const tailStart = Math.max(0, bundle.size - 70000);
  const tail = await bytes(tailStart, bundle.size);
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("This is no zip file. `armillary pack FOLDER` makes one of your folder.");
  let start = tail.getUint32(end + 16, true), size = tail.getUint32(end + 12, true);
  if (start === 0xffffffff || size === 0xffffffff) {
    const wide = await bytes(Number(tail.getBigUint64(end - 20 + 8, true)), bundle.size);
    start = Number(wide.getBigUint64(48, true));
    size = Number(wide.getBigUint64(40, true));
  }
  const directory = await bytes(start, start + size);
  const names = new Set();
  let deeper = "", manifest = null;
  for (let at = 0; at + 46 <= directory.byteLength; ) {
    const [packed, name, extra, note] = [20, 28, 30, 32].map((o) =>
      o === 20 ? directory.getUint32(at + o, true) : directory.getUint16(at + o, true));
    const text = new TextDecoder().decode(new Uint8Array(directory.buffer, at + 46, name));
    names.add(text);
    if (text.endsWith("/manifest.json")) deeper = text;
    if (text === "manifest.json") {
      const where = directory.getUint32(at + 42, true), method = directory.getUint16(at + 10, true);
      const head = await bytes(where, where + 30);
      const from = where + 30 + head.getUint16(26, true) + head.getUint16(28, true);
      let stream = bundle.slice(from, from + packed).stream();
      if (method === 8) stream = stream.pipeThrough(new DecompressionStream("deflate-raw"));
      manifest = await new Response(stream).json().catch(() => {
        throw new Error("manifest.json is no JSON.");
      });
    }
    at += 46 + name + extra + note;
  }
  if (manifest) return { manifest, names };
  if (deeper) throw new Error(`Found ${deeper}. Zip what is in the folder, not the folder.`);
  throw new Error("The zip holds no manifest.json at its top level.");
}

async function digest(bundle, tell) {
  const hash = new Sha256();
  for (let at = 0; at < bundle.size; at += STEP) {
    hash.add(new Uint8Array(await bundle.slice(at, at + STEP).arrayBuffer()));
    tell(Math.min(1, (at + STEP) / bundle.size));
  }
  return hash.hex();
}

// The browser's own hash wants the whole file in memory at once; this one takes it piece by piece.
const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((p) => n % p)) PRIMES.push(n);
const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const ROUNDS = Int32Array.from(PRIMES, (p) => fraction(Math.cbrt(p)));
const turn = (x, n) => (x >>> n) | (x << (32 - n));

class Sha256 {
  constructor() {
    this.state = Int32Array.from(PRIMES.slice(0, 8), (p) => fraction(Math.sqrt(p)));
    this.words = new Int32Array(64);
    this.rest = new Uint8Array(0);
    this.length = 0;
  }

  add(bytes) {
    this.length += bytes.length;
    const whole = new Uint8Array(this.rest.length + bytes.length);
    whole.set(this.rest);
    whole.set(bytes, this.rest.length);
    const end = whole.length - (whole.length % 64);
    const view = new DataView(whole.buffer);
    for (let at = 0; at < end; at += 64) this.block(view, at);
    this.rest = whole.slice(end);
  }

  block(view, at) {
    const w = this.words;
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15], b = w[i - 2];
      const s0 = turn(a, 7) ^ turn(a, 18) ^ (a >>> 3), s1 = turn(b, 17) ^ turn(b, 19) ^ (b >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let i = 0; i < 64; i++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25), pick = (e & f) ^ (~e & g);
      const one = (h + s1 + pick + ROUNDS[i] + w[i]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22), most = (a & b) ^ (a & c) ^ (b & c);
      h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + s0 + most) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (this.state[i] = (this.state[i] + word) | 0));
  }

  hex() {
    const bits = BigInt(this.length) * 8n;
    const filler = new Uint8Array(((this.rest.length < 56 ? 56 : 120) - this.rest.length) + 8);
    filler[0] = 0x80;
    new DataView(filler.buffer).setBigUint64(filler.length - 8, bits);
    this.add(filler);
    return [...this.state].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }
}
