//! `read_file` with `includeDeps`: the project files that a file imports.

use std::fs;

use docent_testkit::{Answer, Sandbox, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

fn read_with_deps(sandbox: &Sandbox, path: &str) -> Answer {
    sandbox.call("read_file", json!({ "path": path, "includeDeps": true }))
}

/// The paths of the dependencies, followed by `…` if the answer has their content.
fn dependencies_of(answer: &Answer) -> Vec<String> {
    assert!(!answer.is_error, "{answer}");
    let listed = answer.json()["dependencies"].clone();
    let shown = |dependency: &Value| {
        assert_eq!(dependency["level"], 1);
        let name = dependency["path"].as_str().unwrap();
        match (dependency["type"].as_str().unwrap(), dependency.get("content")) {
            ("import", Some(_)) => format!("{name} …"),
            ("import", None) => name.to_owned(),
            (other, None) => format!("{other} {name}"),
            other => panic!("{other:?}"),
        }
    };
    listed.as_array().unwrap().iter().map(shown).collect()
}

fn project() -> Sandbox {
    sandbox()
        .file(
            "src/server/auth/AuthService.ts",
            "import { TokenManager } from './TokenManager';\nimport { UserRepository } from '../users/UserRepository';\nimport jwt from 'jsonwebtoken';\n",
        )
        .file("src/server/auth/TokenManager.ts", "export class TokenManager {}\n")
        .file("src/server/users/UserRepository.ts", "export class UserRepository {}\n")
}

#[test]
fn example_with_dependencies() {
    let arguments = json!({ "path": "src/server/auth/AuthService.ts", "includeDeps": true, "maxDepth": 1 });
    assert_snapshot!(pretty(&project().call("read_file", arguments)), @r#"
    {
      "file": {
        "path": "src/server/auth/AuthService.ts",
        "content": "import { TokenManager } from './TokenManager';\nimport { UserRepository } from '../users/UserRepository';\nimport jwt from 'jsonwebtoken';\n",
        "size": 137,
        "lines": 3,
        "language": "typescript"
      },
      "dependencies": [
        {
          "path": "src/server/auth/TokenManager.ts",
          "type": "import",
          "level": 1,
          "content": "export class TokenManager {}\n"
        },
        {
          "path": "src/server/users/UserRepository.ts",
          "type": "import",
          "level": 1,
          "content": "export class UserRepository {}\n"
        },
        {
          "path": "jsonwebtoken",
          "type": "external",
          "level": 1
        }
      ],
      "metadata": {
        "module": "auth",
        "role": "core",
        "lastModified": "2026-01-09T10:00:00Z"
      }
    }
    "#);
}

#[test]
fn example_without_dependencies() {
    let arguments = json!({ "path": "src/server/auth/AuthService.ts", "includeDeps": false });
    assert_eq!(
        project().call("read_file", arguments).json()["dependencies"],
        json!([])
    );
}

#[test]
fn depth_0_lists_no_dependencies_and_depth_2_is_refused() {
    let call = |depth: Value| {
        let arguments =
            json!({ "path": "src/server/auth/AuthService.ts", "includeDeps": true, "maxDepth": depth });
        project().call("read_file", arguments)
    };
    assert_eq!(call(json!(0)).json()["dependencies"], json!([]));
    assert_snapshot!(pretty(&call(json!(2))), @r#"
    [isError] {
      "error": "Invalid parameters",
      "details": [
        {
          "path": [
            "maxDepth"
          ],
          "message": "maxDepth must be between 0 and 1"
        }
      ]
    }
    "#);
}

#[test]
fn error_case_imports_that_cannot_be_parsed() {
    let lines = "const a = 1;\n".repeat(14);
    let sandbox = sandbox().file("file.ts", format!("{lines}import {{ b from\n"));
    assert_snapshot!(pretty(&read_with_deps(&sandbox, "file.ts")), @r#"
    [isError] {
      "error": "Failed to parse imports",
      "path": "file.ts",
      "details": "Syntax error at line 15",
      "suggestion": "Read the file without includeDeps"
    }
    "#);
    assert!(!sandbox.call("read_file", json!({ "path": "file.ts" })).is_error);
    // A syntax error behind the imports does not hide them.
    sandbox.write("file.ts", "import { b } from './b';\nfunction f( {\n");
    assert_eq!(
        dependencies_of(&read_with_deps(&sandbox, "file.ts")),
        ["external ./b"]
    );
}

#[test]
fn imports_are_resolved_in_every_language() {
    let sandbox = sandbox()
        .file("tsconfig.json", "{ // paths\n \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@/*\": [\"web/*\"] }, } }")
        .file("web/app.tsx", "import { x } from '@/lib';\nexport * from './button.js';\nimport React from 'react';\n")
        .file("web/lib/index.ts", "")
        .file("web/button.ts", "")
        .file("shop/__init__.py", "")
        .file("shop/cart.py", "from . import price\nfrom .stock import Stock\nimport os.path\nimport shop.price\n")
        .file("shop/price.py", "")
        .file("shop/stock/__init__.py", "")
        .file("Cargo.toml", "[package]\nname = \"till\"\n")
        .file("src/lib.rs", "mod bill;\nuse crate::bill::line::Line;\nuse std::fmt;\n")
        .file("src/bill.rs", "pub mod line;\nuse super::Other;\n")
        .file("src/bill/line.rs", "")
        .file("go.mod", "module example.com/shop\n")
        .file("cmd/main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"example.com/shop/stock\"\n)\n")
        .file("stock/stock.go", "package stock\n")
        .file("stock/stock_test.go", "package stock\n")
        .file("java/com/acme/Main.java", "package com.acme;\n\nimport com.acme.stock.Shelf;\nimport java.util.List;\n")
        .file("java/com/acme/stock/Shelf.java", "package com.acme.stock;\n")
        .file("c/main.c", "#include \"shelf.h\"\n#include <stdio.h>\n")
        .file("c/shelf.h", "")
        .file("rb/main.rb", "require_relative 'shelf'\nrequire 'json'\n")
        .file("rb/shelf.rb", "");
    let list = |path: &str| dependencies_of(&read_with_deps(&sandbox, path)).join(", ");
    assert_snapshot!(list("web/app.tsx"), @"web/lib/index.ts …, web/button.ts …, external react");
    assert_snapshot!(list("shop/cart.py"), @"shop/price.py …, shop/stock/__init__.py …, external os");
    assert_snapshot!(list("src/lib.rs"), @"src/bill.rs …, src/bill/line.rs …, external std");
    assert_snapshot!(list("src/bill.rs"), @"src/bill/line.rs …, src/lib.rs …");
    assert_snapshot!(list("cmd/main.go"), @"stock/stock.go …, external fmt");
    assert_snapshot!(
        list("java/com/acme/Main.java"),
        @"java/com/acme/stock/Shelf.java …, external java.util.List"
    );
    assert_snapshot!(list("c/main.c"), @"c/shelf.h …, external <stdio.h>");
    assert_snapshot!(list("rb/main.rb"), @"rb/shelf.rb …, external json");
}

#[test]
fn cycles_missing_files_and_blocked_files_are_handled() {
    let sandbox = sandbox()
        .file("a.js", "import './b.js';\nimport './a.js';\nimport './absent.js';\nimport './secrets/x.js';\nimport '../outside.js';\n")
        .file("b.js", "import './a.js';\n")
        .file("secrets/x.js", "let password = 'hunter2';\n");
    fs::write(sandbox.outside().join("outside.js"), "let secret;\n").unwrap();
    let answer = read_with_deps(&sandbox, "a.js");
    assert_eq!(
        dependencies_of(&answer),
        [
            "b.js …",
            "external ./absent.js",
            "external ./secrets/x.js",
            "external ../outside.js"
        ]
    );
    assert!(!answer.text.contains("hunter2") && !answer.text.contains("let secret"));
}

#[test]
fn dependencies_that_do_not_fit_are_listed_without_content() {
    let mut sandbox = sandbox();
    let mut imports = String::new();
    for number in 0..30 {
        imports += &format!("import './m{number}.js';\n");
        sandbox = sandbox.file(&format!("m{number}.js"), "let x = 1;\n".repeat(150));
    }
    let sandbox = sandbox.file("all.js", imports);
    let answer = read_with_deps(&sandbox, "all.js");
    assert!(answer.text.chars().count() <= 20_000);
    let with_content = dependencies_of(&answer)
        .iter()
        .filter(|name| name.ends_with('…'))
        .count();
    assert_eq!(dependencies_of(&answer).len(), 30);
    assert_eq!(
        answer.json()["notice"],
        format!(
            "{} dependencies are listed without content, which did not fit; read_file shows each",
            30 - with_content
        )
    );
    assert!(with_content >= 5, "{with_content}");
}

#[test]
fn a_list_of_dependencies_that_does_not_fit_is_cut() {
    let mut sandbox = sandbox()
        .file("go.mod", "module a\n")
        .file("main.go", "package main\n\nimport \"a/b\"\n");
    for number in 0..400 {
        sandbox = sandbox.file(
            &format!("b/a_file_with_a_rather_long_name_{number:03}.go"),
            "package b\n",
        );
    }
    let answer = read_with_deps(&sandbox, "main.go");
    assert!(answer.text.chars().count() <= 20_000);
    let notice = answer.json()["notice"].as_str().unwrap().to_owned();
    assert!(notice.contains(" of 400 dependencies are listed"), "{notice}");
}

#[test]
fn every_shown_file_is_recorded_as_one_access() {
    let sandbox = project();
    let finished = sandbox.run(&["read", "src/server/auth/AuthService.ts", "--deps", "--json"]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let mut table = Vec::new();
    for project in fs::read_dir(sandbox.home().join("cache/docent/projects")).unwrap() {
        table.extend(fs::read(project.unwrap().path().join("accesses-1.db")).unwrap());
    }
    let count = |path: &str| {
        table
            .windows(path.len())
            .filter(|part| *part == path.as_bytes())
            .count()
    };
    assert_eq!(count("src/server/auth/AuthService.ts"), 1);
    assert_eq!(count("src/server/auth/TokenManager.ts"), 1);
    assert_eq!(count("src/server/users/UserRepository.ts"), 1);
}

#[test]
fn the_read_command_prints_the_imports_of_a_file() {
    let finished = project().run(&["read", "src/server/auth/AuthService.ts", "--deps"]);
    assert_snapshot!(finished.stdout, @"
    src/server/auth/AuthService.ts:1-3
    1	import { TokenManager } from './TokenManager';
    	import { UserRepository } from '../users/UserRepository';
    	import jwt from 'jsonwebtoken';
    imports src/server/auth/TokenManager.ts
      1 class TokenManager
    imports src/server/users/UserRepository.ts
      1 class UserRepository
    imports jsonwebtoken (external)
    ");
}
