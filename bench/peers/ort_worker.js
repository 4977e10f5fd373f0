// SPDX-License-Identifier: Apache-2.0
// Runs models with ONNX Runtime on request. The same protocol as lemma_worker.cpp, with
// `save FILE` (writes the first output) instead of `compare FILE`.
'use strict';
const fs = require('fs');
const readline = require('readline');
const ort = require('onnxruntime-node');

const [model, threads] = process.argv.slice(2);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const say = (value) => process.stdout.write(JSON.stringify(value) + '\n');

// The same numbers as in the other worker; extents that are not known are 1.
function ramp({ type, shape }) {
  const extents = shape.map((extent) => (typeof extent === 'number' && extent > 0 ? extent : 1));
  const count = extents.reduce((a, b) => a * b, 1);
  const of = (kind, value) => kind.from({ length: count }, (_, k) => value(k));
  const values =
    type === 'int64' ? of(BigInt64Array, (k) => BigInt((k * 37) % 29)) :
    type === 'bool' ? of(Uint8Array, (k) => (k % 3 !== 0 ? 1 : 0)) :
    of(Float32Array, (k) => k / count);
  return new ort.Tensor(type, values, extents);
}

let session = null;
let feeds = {};
let outputs = {};

async function load(path) {
  if (session) await session.release();
  session = null;
  let begin = now();
  session = await ort.InferenceSession.create(path, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: 'all',
    executionMode: 'sequential',
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const load_ms = now() - begin;
  feeds = {};
  for (const info of session.inputMetadata) feeds[info.name] = ramp(info);
  begin = now();
  outputs = await session.run(feeds);
  const first_ms = now() - begin;
  return { load_ms, first_ms };
}

function save(path) {
  const { data } = outputs[session.outputNames[0]];
  fs.writeFileSync(path, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return {};
}

// Further runs write into the outputs of the first one, so that no run allocates memory for them.
async function run(count) {
  const times = [];
  for (let i = 0; i < count; ++i) {
    const begin = now();
    await session.run(feeds, outputs);
    times.push(now() - begin);
  }
  return times;
}

async function answer(line) {
  const [word] = line.split(' ', 1);
  const argument = line.slice(word.length + 1);
  if (word === 'load') return load(argument);
  if (word === 'save') return save(argument);
  if (word === 'run') return run(Number(argument));
  return process.exit(0);
}

async function main() {
  const or_error = (promise) => promise.catch((e) => ({ error: String(e.message) }));
  if (model !== '-') say(await or_error(load(model)));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    say(await or_error(answer(line.trim())));
  }
}

main();
