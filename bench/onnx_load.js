#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
'use strict';
// The other side of onnx_load.py: creates a session of ONNX Runtime for each `LEVEL PATH` line on stdin, and answers
// with its milliseconds of CPU time. The runtime is the package onnxruntime-node, found in the folder that NODE_PATH names.
const readline = require('readline');
const ort = require('onnxruntime-node');

async function create(level, path) {
  const begin = process.cpuUsage();
  const session = await ort.InferenceSession.create(path, {
    executionProviders: ['cpu'], graphOptimizationLevel: level, intraOpNumThreads: 1, interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const spent = process.cpuUsage(begin);
  await session.release();
  return (spent.user + spent.system) / 1e3;
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const space = line.indexOf(' ');
    try {
      console.log(await create(line.slice(0, space), line.slice(space + 1)));
    } catch (error) {
      console.log(`failed: ${String(error.message).split('\n')[0]}`);
    }
  }
}

main();
