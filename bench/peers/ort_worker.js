// SPDX-License-Identifier: Apache-2.0
// Runs one model with ONNX Runtime when it is told to: `run N` on standard input is answered with
// the milliseconds of each run, as a line of JSON. The same protocol as lemma_worker.cpp.
'use strict';
const readline = require('readline');
const ort = require('onnxruntime-node');

const [model, threads] = process.argv.slice(2);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const say = (value) => process.stdout.write(JSON.stringify(value) + '\n');

// k / n in the declared shape, and ones where integers are wanted; extents that are not known are 1.
function makeInputs(session) {
  const feeds = {};
  for (const { name, type, shape } of session.inputMetadata) {
    const extents = shape.map((extent) => (typeof extent === 'number' && extent > 0 ? extent : 1));
    const count = extents.reduce((a, b) => a * b, 1);
    if (type === 'int64') {
      feeds[name] = new ort.Tensor('int64', new BigInt64Array(count).fill(1n), extents);
      continue;
    }
    const values = Float32Array.from({ length: count }, (_, k) => k / count);
    feeds[name] = new ort.Tensor('float32', values, extents);
  }
  return feeds;
}

async function main() {
  let begin = now();
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: 'all',
    executionMode: 'sequential',
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const load = now() - begin;
  const feeds = makeInputs(session);
  begin = now();
  const outputs = await session.run(feeds);
  const first = now() - begin;
  const values = Array.from(outputs[session.outputNames[0]].data);
  say({ load_ms: load, first_ms: first, checksum: values.reduce((sum, v, i) => sum + v * ((i % 7) + 1), 0) });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [word, count] = line.trim().split(' ');
    if (word !== 'run') break;
    const times = [];
    for (let i = 0; i < Number(count); ++i) {
      begin = now();
      await session.run(feeds);
      times.push(now() - begin);
    }
    say(times);
  }
}

main();
