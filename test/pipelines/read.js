// read.js FILE: action.yml as JSON, with what GitHub's schema has against it as `problems`.
const fs = require("fs");
const yaml = require("yaml");
const { validateAction } = require("@action-validator/core");

const text = fs.readFileSync(process.argv[2], "utf8");
console.log(JSON.stringify({ action: yaml.parse(text), problems: validateAction(text).errors }));
